import ODataService

/// A defining query that the service refused to answer, or answered with what cannot be read or kept.
public struct QueryRefusal: Hashable, Sendable, CustomStringConvertible {
    /// The name of the query.
    public let name: String
    /// The query, with its parameters by name: their values may be a session's.
    public let text: String
    /// Whether the service has answered it before: its model may have changed since.
    public let wasLoaded: Bool
    /// What the service said; 502 and `InvalidResponse` or `InvalidValue` for what is wrong with its answer.
    public let error: ODataError

    /// Which query was refused, and why.
    public var description: String {
        guard isOfAnswer else { return "The service refused the defining query \(name) (\(text)): \(error)" }
        return
            "The service answered the defining query \(name) (\(text)), and its answer cannot be used: \(error.message)"
    }

    /// Whether the service answered, and what is wrong with its answer was found here.
    public var isOfAnswer: Bool { Self.answerCodes.contains(error.code) && error.status == 502 }

    /// The codes of what is wrong with an answer.
    private static let answerCodes: Set = ["InvalidResponse", "InvalidValue", "EndlessAnswer", "ForeignLink"]
}
