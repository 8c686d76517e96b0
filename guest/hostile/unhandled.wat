;; parts: imports memory announce end call
;; Tells of an unhandled failure of the call whose number is the program, without having made any call, and completes.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $unhandled (local.get $self) (i32.const 1)
      (call $parse (local.get $program) (local.get $program-len)) (local.get $program) (local.get $program-len))
    (call $one (local.get $self)))
