import ODataModel

/// The arguments of a subscription: the rows of a set that are synchronized. Generated code implements it.
public protocol SubscriptionParameters: Hashable, Sendable {
    /// The package.
    associatedtype Package: ObjectPackage
    /// The entity set.
    static var entitySet: String { get }
    /// The arguments in the order of the parameters.
    var arguments: [SubscriptionArgument] { get }
}

/// An argument of a subscription.
public struct SubscriptionArgument: Hashable, Sendable {
    /// The name of the parameter.
    public var name: String
    /// The value; `nil` if the argument follows its personalization key or its default.
    public var value: ODataValue?

    /// Creates an argument.
    public init(_ name: String, _ value: (some ODataValueConvertible)?) {
        self.name = name
        self.value = value?.odataValue
    }

    init(name: String, value: ODataValue?) {
        self.name = name
        self.value = value
    }
}
