;; parts: imports memory announce end call
;; Calls `echo` with the program as arguments, never looks at an answer, and goes on until it is refused. Logs the refusal
;; and completes with the number of calls.
  (data (i32.const 0) "echo")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $calls i64)
    (loop $again
      (if (call $start (local.get $self) (i32.const 0) (i32.const 0) (i32.const 4) (local.get $program) (local.get $program-len))
        (then
          (local.set $calls (i64.add (local.get $calls) (i64.const 1)))
          (br $again))))
    (call $number (local.get $self) (local.get $calls)))
