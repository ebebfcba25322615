import ODataModel

/// An action of the service that is called instead of the creation, the update or the deletion of an entity.
///
/// The row of the store changes as without an action. When the change is sent, parameters with an attribute get its
/// value, and the other parameters get fixed arguments.
///
/// ```swift
/// let register = ChangeAction(operation, urlName: "RegisterCustomer", mapping: ["Surname": "LastName"], model: model)
/// request.context.changeOptions = ChangeOptions(isHeld: true, action: register)
/// ```
public struct ChangeAction: Hashable, Sendable, Codable {
    /// The element to which the action is bound.
    public enum Binding: String, Hashable, Sendable, Codable {
        /// Nothing: the action is called by its import.
        case none
        /// The entity set.
        case collection
        /// The entity.
        case entity
    }

    /// The name in the URL: that of the import, or the qualified name of a bound action.
    public let urlName: String
    /// The element to which the action is bound.
    public let binding: Binding
    /// The attributes from which parameters are filled, by parameter. Names of a path have slashes between them.
    public let mapping: [String: String]
    /// The values of the other parameters as a JSON object.
    let arguments: String

    /// Creates the call of an action.
    ///
    /// - Parameters:
    ///   - operation: the action.
    ///   - urlName: the name in the URL: that of the import, or the qualified name of a bound action.
    ///   - binding: the element to which it is bound.
    ///   - mapping: the attributes from which parameters are filled, by parameter.
    ///   - arguments: the values of other parameters.
    ///   - model: the model of the package.
    public init(
        _ operation: ODataOperation, urlName: String, binding: Binding = .none, mapping: [String: String],
        arguments: [String: ODataValue] = [:], model: EntityDataModel
    ) {
        self.urlName = urlName
        self.binding = binding
        self.mapping = mapping
        self.arguments = CallParameters.text(arguments, of: operation, model: model)
    }

    /// Whether the caller gave values that no attribute has, so that no other change can stand for this one.
    var hasArguments: Bool { arguments != "{}" }
}

extension ChangeOptions {
    /// Whether a change with these options may be put into an earlier change of the same entity, so that both are one
    /// request. An action with arguments is called by itself, and different actions stay apart.
    ///
    /// - Parameter kind: the kind of the earlier change.
    func mayJoin(_ earlier: ChangeOptions, _ kind: QueuedRequest.Kind) -> Bool {
        if action == earlier.action { return true }
        guard let action else { return kind == .create }
        guard !action.hasArguments else { return false }
        return kind == .create
            || (earlier.action?.urlName == action.urlName && earlier.action?.hasArguments == false)
    }
}
