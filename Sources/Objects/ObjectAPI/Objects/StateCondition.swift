import ODataQuery
import ODataService

/// A state of an object's changes for queries.
public enum StateCondition: String, Hashable, Sendable, CaseIterable {
    /// A change waits, is on its way or was refused.
    case pending
    /// The object was created here.
    case created
    /// The object was changed here.
    case updated
    /// A change was refused, or its outcome is unknown.
    case failed
    /// A change was submitted and has no answer yet.
    case submitted
    /// The object was created or changed here.
    case newOrUpdated
    /// A log record is about the object.
    case hasLogRecords

    var functions: [String] {
        switch self {
        case .pending: ["hasPendingChanges"]
        case .created: ["isCreated"]
        case .updated: ["isUpdated"]
        case .failed: ["inErrorState"]
        case .submitted: ["isSubmitted"]
        case .newOrUpdated: ["isCreated", "isUpdated"]
        case .hasLogRecords: ["hasLogRecords"]
        }
    }
}

extension TypedPaths {
    /// Returns the condition that an object is in a state.
    ///
    /// ```swift
    /// let waiting = try await crm.customers.filter { $0.objectState(.newOrUpdated) }.count()
    /// ```
    public func objectState(_ condition: StateCondition) -> QueryExpression {
        let calls = condition.functions.map { name in
            QueryExpression(.call(Identifier("outpost.\(name)"), []))
        }
        return calls.dropFirst().reduce(calls[0]) { $0 || $1 }
    }
}
