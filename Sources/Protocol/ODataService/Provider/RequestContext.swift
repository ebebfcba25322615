/// The arguments of a request that stay within the process. A client sends ``ODataRequest/headers``, but no
/// context.
///
/// A module adds arguments of its own by their types:
///
/// ```swift
/// struct Priority: RequestContextValue { var level: Int }
///
/// var request = ODataRequest(.read, try ODataURL(parsing: "Orders"))
/// request.context[Priority.self] = Priority(level: 3)
/// ```
public struct RequestContext: Sendable {
    /// The caller; `nil` if it was not authenticated.
    public var principal: Principal?
    /// The resources that the request may use; `nil` for the requests of an app, which only limit the depth.
    public var budget: RequestBudget?
    /// The additional arguments; `nil` if there are none, as in most requests.
    private var values: [ObjectIdentifier: any RequestContextValue]?

    /// Creates a context without arguments.
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

/// An argument in a ``RequestContext``, which holds at most one of each type.
public protocol RequestContextValue: Sendable {}
