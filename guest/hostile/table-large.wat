;; parts: imports memory announce end
;; Wants a table of 20,000 elements, which is the most.
  (table $table 20000 funcref)
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $one (local.get $self)))
