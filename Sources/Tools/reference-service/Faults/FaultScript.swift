import Foundation
import ODataService

/// The faults that the service makes, in the order of its requests. It is a JSON array.
///
/// ```json
/// [
///     {"change": 2, "status": 409, "code": "LOCK", "message": "The row is locked."},
///     {"change": 3, "delay": 5},
///     {"change": 4, "losesAnswer": true},
///     {"change": 5, "endsSubscription": "Customers"}
/// ]
/// ```
struct FaultScript: Decodable, Sendable {
    /// One fault.
    struct Step: Decodable, Sendable {
        /// The number of the change with the fault, from 1. Changes in a batch count each.
        var change: Int
        /// The HTTP status with which the change is refused.
        var status: Int?
        /// The code of the back end for the refusal.
        var code: String?
        /// The message of the refusal.
        var message: String?
        /// The seconds that the service waits before it makes the change.
        var delay: Double?
        /// Whether the connection breaks after the change was made.
        var losesAnswer: Bool?
        /// The entity set that can no longer be read from this change on, because the service ended the subscription.
        var endsSubscription: String?

        /// The error of a refused change.
        var refusal: ODataError? {
            status.map {
                ODataError(status: $0, code: code ?? "Refused", message: message ?? "The change was refused.")
            }
        }
    }

    /// The faults.
    var steps: [Step]

    init(steps: [Step]) { self.steps = steps }

    init(from decoder: any Decoder) throws { steps = try [Step](from: decoder) }

    /// Reads a script.
    ///
    /// - Throws: `FaultScriptError` for a file that is no script.
    static func read(_ path: String) throws(FaultScriptError) -> FaultScript {
        do {
            let script = try JSONDecoder().decode(
                FaultScript.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
            if let step = script.steps.first(where: { $0.change < 1 || !(100...599).contains($0.status ?? 500) }) {
                throw FaultScriptError(
                    path: path, reason: "Change \(step.change) has a number or a status out of range.")
            }
            return script
        } catch let error as FaultScriptError {
            throw error
        } catch {
            throw FaultScriptError(path: path, reason: "\(error)")
        }
    }
}

/// A file that is no script of faults.
struct FaultScriptError: Error, CustomStringConvertible {
    var path: String
    var reason: String

    var description: String { "\(path) is no script of faults: \(reason) Give a JSON array of steps." }
}
