import Foundation
import ODataCache
import Secrets

// Works on a store from a process of its own:
// CacheProbe put FOLDER KEY PREFIX COUNT: keeps PREFIX0, PREFIX1, …, again and again without a count;
// CacheProbe get FOLDER KEY NAME: prints the value of NAME.
let arguments = CommandLine.arguments
let store = PersistentStore(
    folder: arguments[2], key: .given(.key(try EncryptionKey(hexadecimal: arguments[3]))))
if arguments[1] == "get" {
    print(try await store.value(String.self, for: arguments[4]) ?? "-")
} else {
    let count = arguments.count > 5 ? Int(arguments[5]) ?? 0 : .max
    for number in 0..<count {
        // A value of some chunks, so that a kill meets it half written.
        let text = String(repeating: "\(number) ", count: 40_000)
        try await store.put(text, for: "\(arguments[4])\(count == .max ? number % 3 : number)")
    }
}
