import Foundation
import ODataFormat
import ODataModel

// Each way runs in a process of its own, so that none inherits the memory of another.
let arguments = CommandLine.arguments
do {
    switch arguments.count {
    case 1: try Report.run(megabytes: 50, streamed: 500)
    case 2 where arguments[1] == "--quick": try Report.run(megabytes: 5, streamed: 50)
    case 3:
        guard let way = Way(rawValue: arguments[1]), let megabytes = Int(arguments[2]) else {
            throw BenchmarkError.unreadable
        }
        print(String(decoding: try JSONEncoder().encode(try way.run(megabytes: megabytes)), as: UTF8.self))
    default: throw BenchmarkError.unreadable
    }
} catch {
    FileHandle.standardError.write(Data("json-bench: \(error)\n".utf8))
    exit(1)
}
