;; parts: imports memory announce send
;; Sends a text whose last byte is outside its memory, to the place the program names (parts/send.wat).
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $send (local.get $self) (i32.load8_u (local.get $program)) (i32.const 0x1fff8) (i32.const 9))
    (call $drop (local.get $self)))
