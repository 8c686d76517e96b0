;; parts: imports memory announce end call
;; Asks for the members of the namespace whose number is the program and completes with how many there are. An unknown one
;; traps.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $members (local.get $self)
      (i32.wrap_i64 (call $parse (local.get $program) (local.get $program-len))) (i32.const 61440))
    (call $number (local.get $self) (i64.load32_u (i32.const 61444))))
