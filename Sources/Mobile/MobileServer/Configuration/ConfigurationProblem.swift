import ErrorCodes

/// A mistake in a configuration file.
public struct ConfigurationProblem: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The path of the file.
    public var path: String
    /// The line, from 1; 0 if no place is known.
    public var line: Int
    /// The column, from 1.
    public var column: Int
    /// A sentence about the mistake.
    public var message: String
    /// Whether the file can be used nevertheless.
    public var isWarning: Bool

    /// Creates a problem.
    public init(path: String, line: Int, column: Int, message: String, isWarning: Bool = false) {
        self.path = path
        self.line = line
        self.column = column
        self.message = message
        self.isWarning = isWarning
    }

    /// `PATH:LINE:COLUMN: MESSAGE`.
    public var description: String {
        let place = line > 0 ? "\(path):\(line):\(column)" : path
        return "\(place): \(isWarning ? "warning: " : "")\(message)"
    }
}

/// All mistakes of a configuration file at once.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The mistakes in the order of their places; at least one.
    public var problems: [ConfigurationProblem]

    /// Creates an error.
    public init(problems: [ConfigurationProblem]) { self.problems = problems }

    /// One line for each mistake.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension ConfigurationError: CodedError {
    /// The code `server.configuration`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "server.configuration") }
    /// Always `FailureKind.request`: the file must be changed.
    public var failureKind: FailureKind { .request }
}
