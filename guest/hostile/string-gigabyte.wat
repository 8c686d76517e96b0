;; parts: imports memory announce send
;; Sends a text of a gigabyte that it does not have, to the place the program names (parts/send.wat).
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $send (local.get $self) (i32.load8_u (local.get $program)) (i32.const 0) (i32.const 0x40000000))
    (call $drop (local.get $self)))
