;; parts: imports memory announce
;; Fails with the program as the message: as an exception, or as an invalid output where the program begins with "!".
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $fail (local.get $self)
      (i32.eq (i32.load8_u (local.get $program)) (i32.const 33)) (local.get $program) (local.get $program-len))
    (call $drop (local.get $self)))
