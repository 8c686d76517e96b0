  ;; A guest of language "wat", interpreter "none", version "1", contract "0.1".
  (data (i32.const 57344) "watnone10.1")
  (data (i32.const 57360)
    "\00\e0\00\00\03\00\00\00" "\03\e0\00\00\04\00\00\00" "\07\e0\00\00\01\00\00\00" "\08\e0\00\00\03\00\00\00")
  (func (export "announce") (result i32) (i32.const 57360))
