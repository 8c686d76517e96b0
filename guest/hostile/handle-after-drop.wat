;; parts: imports memory announce send
;; Drops the execution and then uses it: for what the program says (parts/send.wat), or to drop it again.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $drop (local.get $self))
    (call $send (local.get $self) (i32.load8_u (local.get $program)) (i32.const 0) (i32.const 0))
    (call $drop (local.get $self)))
