;; parts: imports memory announce end call
;; Calls into the namespace whose number is the program, which there is not.
  (data (i32.const 0) "nullecho")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (drop (call $start (local.get $self)
      (i32.wrap_i64 (call $parse (local.get $program) (local.get $program-len)))
      (i32.const 4) (i32.const 4) (i32.const 0) (i32.const 4)))
    (call $one (local.get $self)))
