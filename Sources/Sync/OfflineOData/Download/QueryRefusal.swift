import ODataService

/// A defining query that the service refused, or answered with a response that cannot be read or stored.
public struct QueryRefusal: Hashable, Sendable, CustomStringConvertible {
    /// The name of the query.
    public let name: String
    /// The query, with its parameters by name, since their values may belong to a session.
    public let text: String
    /// Whether the service has answered it before. If so, its model may have changed.
    public let wasLoaded: Bool
    /// The error of the service; 502 and `InvalidResponse` or `InvalidValue` for a faulty response.
    public let error: ODataError

    /// The refused query and the reason.
    public var description: String {
        guard isOfAnswer else { return "The service refused the defining query \(name) (\(text)): \(error)" }
        return
            "The service answered the defining query \(name) (\(text)), and its answer cannot be used: \(error.message)"
    }

    /// Whether the service responded and the store found the fault in the response.
    public var isOfAnswer: Bool { Self.answerCodes.contains(error.code) && error.status == 502 }

    /// The codes for faulty responses.
    private static let answerCodes: Set = ["InvalidResponse", "InvalidValue", "EndlessAnswer", "ForeignLink"]
}
