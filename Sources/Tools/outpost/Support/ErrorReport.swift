import ODataClient
import ODataQuery

/// An error as JSON on standard error, for a script that asked for `--json`.
struct ErrorReport: Encodable {
    struct Body: Encodable {
        /// The stable code, such as `query.unknown-name` or `tool.usage`.
        var code: String
        var message: String
        var advice: String?
        /// The query, and the place in it, counted in characters from one.
        var query: String?
        var position: Int?
        var exitCode: Int32
    }

    let error: Body

    /// Whether the command line asks for JSON.
    static var isWanted: Bool { CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json") }

    init(_ misuse: Misuse) {
        error = Body(
            code: "tool.usage", message: misuse.message.description, advice: misuse.advice?.description,
            exitCode: ExitStatus.misused.rawValue)
    }

    init(_ failure: Failure) {
        var body = Body(
            code: failure.cause.map { "\(ErrorDiagnosis($0).code)" } ?? failure.status.code,
            message: failure.message.description, advice: failure.advice?.description,
            exitCode: failure.status.rawValue)
        if let error = failure.cause as? QueryError {
            body.message = error.description
            body.query = error.text
            body.position = error.offset.map { $0 + 1 }
        }
        error = body
    }

    func write() { Terminal.error(JSONText(self).text) }
}

extension ExitStatus {
    /// The code of an error that no library made.
    fileprivate var code: String {
        switch self {
        case .failed: "tool.failed"
        case .misused: "tool.usage"
        case .someRefused: "tool.some-refused"
        }
    }
}
