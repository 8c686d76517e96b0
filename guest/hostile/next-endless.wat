;; parts: imports memory announce end call
;; Calls the member that is named like the program and waits for it with a timeout of 584 years.
  (data (i32.const 0) "null")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (drop (call $start (local.get $self) (i32.const 0) (local.get $program) (local.get $program-len) (i32.const 0) (i32.const 4)))
    (call $next (local.get $self) (i32.const 1) (i64.const -1) (i32.const 61440))
    (call $one (local.get $self)))
