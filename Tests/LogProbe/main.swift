import Foundation
import Supportability

// Writes to a log from a process of its own: LogProbe FOLDER TAG COUNT; without a count, until it is killed.
let arguments = CommandLine.arguments
let log = try StoredLog(folder: arguments[1])
let count = arguments.count > 3 ? Int(arguments[3]) ?? 0 : .max
for number in 0..<count {
    try log.append(
        LogRecord(
            time: Date(), severity: .info, tag: arguments[2], message: "entry \(number)", correlationID: arguments[2]))
}
