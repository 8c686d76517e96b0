  ;; What the world exports.
  (export "announce" (func $announce))
  (export "run" (func $run))
