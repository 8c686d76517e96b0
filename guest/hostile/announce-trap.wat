;; parts: imports memory end
;; `announce` traps.
  (func (export "announce") (result i32) unreachable)
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $one (local.get $self)))
