/// The arguments of a request that travel with it inside the process, from one provider to the next. None of them is ever
/// sent: a client sends ``ODataRequest/headers``, and nothing of this.
///
/// A module adds arguments of its own by their types:
///
/// ```swift
/// struct Priority: RequestContextValue { var level: Int }
///
/// request.context[Priority.self] = Priority(level: 3)
/// ```
public struct RequestContext: Sendable {
    /// The caller, if the server has found out; `nil` if nobody is known.
    public var principal: Principal?
    /// The resources that the request may use; `nil` for the requests of an app, which have no limit but depth.
    public var budget: RequestBudget?
    /// Most requests have none.
    private var values: [ObjectIdentifier: any RequestContextValue]?

    /// Makes a context without arguments.
    public init() {}

    /// The argument of a type; `nil` if there is none.
    public subscript<Value: RequestContextValue>(type: Value.Type) -> Value? {
        get { values?[ObjectIdentifier(type)] as? Value }
        set {
            guard values != nil || newValue != nil else { return }
            values = values ?? [:]
            values?[ObjectIdentifier(type)] = newValue
        }
    }
}

/// An argument that a request can carry in its ``RequestContext``, one of each type.
public protocol RequestContextValue: Sendable {}
