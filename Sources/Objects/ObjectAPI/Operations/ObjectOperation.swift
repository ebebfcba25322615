import ODataModel
import ODataService
import OfflineOData

/// A call of an action of the service with its parameters, implemented by generated code.
public protocol ObjectOperation: Sendable {
    /// The package.
    associatedtype Package: ObjectPackage
    /// The name of the action.
    static var operationName: QualifiedName { get }
    /// The name under which the service offers an action that is bound to no object.
    static var importName: String { get }
    /// The object that the action is bound to; `nil` for none.
    var target: ObjectReference? { get }
    /// Writes the parameters.
    func write(to parameters: inout OperationParameters)
}

extension ObjectOperation {
    /// The unqualified name of the action.
    public static var importName: String { operationName.name }
}

/// The parameters of an operation.
public struct OperationParameters: Hashable, Sendable {
    /// The values by name.
    public private(set) var values: [String: ODataValue] = [:]

    /// Creates parameters without values.
    public init() {}

    init(_ values: [String: ODataValue]) { self.values = values }

    /// Sets a parameter; `nil` sets null.
    public mutating func set(_ name: String, _ value: (some ODataValueConvertible)?) {
        values[name] = value?.odataValue ?? .null
    }

    /// Sets a parameter with several values.
    public mutating func setMembers(_ name: String, _ members: [(some ODataValueConvertible)?]) {
        values[name] = .collection(members.map { $0?.odataValue ?? .null })
    }

    /// Sets a parameter that may be left out; `nil` leaves it out.
    public mutating func setOptional(_ name: String, _ value: (some ODataValueConvertible)?) {
        if let value { values[name] = value.odataValue }
    }

    /// Sets a parameter with several values that may be left out; `nil` leaves it out.
    public mutating func setOptionalMembers(_ name: String, _ members: [(some ODataValueConvertible)?]?) {
        if let members { setMembers(name, members) }
    }
}

/// An operation that was saved.
public struct PendingOperation<Package: ObjectPackage>: Hashable, Sendable {
    /// The number of the request in the queue.
    public let id: Int64
}
