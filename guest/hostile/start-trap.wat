;; parts: imports memory announce end
;; Its start function traps.
  (func $at-start unreachable)
  (start $at-start)
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $one (local.get $self)))
