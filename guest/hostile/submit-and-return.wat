;; parts: imports memory announce end call
;; Not hostile: makes two calls of the member that is named like the program after its first letter, and completes without
;; waiting. The first letter `s` starts them first, any other does not.
  (data (i32.const 0) "null")
  (func $once (param $self i32) (param $program i32) (param $program-len i32)
    (drop (call $start (local.get $self) (i32.const 0)
      (i32.add (local.get $program) (i32.const 1)) (i32.sub (local.get $program-len) (i32.const 1))
      (i32.const 0) (i32.const 4))))
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $once (local.get $self) (local.get $program) (local.get $program-len))
    (call $once (local.get $self) (local.get $program) (local.get $program-len))
    (if (i32.eq (i32.load8_u (local.get $program)) (i32.const 115))
      (then (call $next (local.get $self) (i32.const 1) (i64.const 1000000) (i32.const 61440))))
    (call $one (local.get $self)))
