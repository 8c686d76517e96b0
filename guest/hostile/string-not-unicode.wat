;; parts: imports memory announce send
;; Sends bytes that are not UTF-8, to the place the program names (parts/send.wat).
  (data (i32.const 0) "a\ed\a0\80")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $send (local.get $self) (i32.load8_u (local.get $program)) (i32.const 0) (i32.const 4))
    (call $drop (local.get $self)))
