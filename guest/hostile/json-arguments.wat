;; parts: imports memory announce end call
;; Calls `echo` with the program as arguments, whatever that is. Logs a refusal and completes with 1, or completes with the
;; answer.
  (data (i32.const 0) "echo")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (if (call $start (local.get $self) (i32.const 0) (i32.const 0) (i32.const 4) (local.get $program) (local.get $program-len))
      (then
        (if (call $await (local.get $self))
          (then (call $log-answer (local.get $self)) (call $one (local.get $self)) (return)))
        (call $complete (local.get $self) (i32.const 1) (i32.load (i32.const 61460)) (i32.load (i32.const 61464)))
        (call $drop (local.get $self)))
      (else (call $one (local.get $self)))))
