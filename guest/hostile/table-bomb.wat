;; parts: imports memory announce end
;; Wants a table of four billion elements.
  (table $table 4000000000 funcref)
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $one (local.get $self)))
