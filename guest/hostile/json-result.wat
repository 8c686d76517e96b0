;; parts: imports memory announce
;; Completes with the program, whatever that is.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $complete (local.get $self) (i32.const 1) (local.get $program) (local.get $program-len))
    (call $drop (local.get $self)))
