import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// The methods of a resource (OData Protocol 4.01, 11.1 to 11.5).
struct MethodRules {
    /// The methods of the kind of resource.
    private let methods: [ODataRequest.Method]
    /// The entity set of the resource.
    private let set: EntitySet?

    /// Determines the methods of a resource, without those that the model excludes for the entity set.
    init(_ resource: BoundResource) {
        methods = Self.methods(resource)
        switch resource.target {
        case .entities(_, let set), .entity(_, let set): self.set = set
        default: set = nil
        }
    }

    func isAllowed(_ method: ODataRequest.Method) -> Bool {
        guard methods.contains(method) else { return false }
        guard let set else { return true }
        return switch method {
        case .create: set.isCreatable
        case .update, .replace: set.isUpdatable
        case .delete: set.isDeletable
        case .read: true
        }
    }

    private static func methods(_ resource: BoundResource) -> [ODataRequest.Method] {
        // The result of a function is read-only.
        if case .operation(let operation, _)? = resource.steps.last {
            return operation.kind == .action ? Kinds.action : Kinds.readOnly
        }
        switch resource.target {
        case .service, .metadata, .count, .all, .crossJoin: return Kinds.readOnly
        case .batch: return Kinds.action
        case .entityByID: return Kinds.entity
        case .entities: return resource.steps.contains(.each) ? Kinds.members : Kinds.entities
        case .entity:
            if case .singleton? = resource.steps.last { return Kinds.singleton }
            return Kinds.entity
        case .property(let property, _): return property.type.isCollection ? Kinds.collection : Kinds.entity
        case .rawValue: return Kinds.value
        case .references(_, _, _, let isCollection): return isCollection ? Kinds.references : Kinds.value
        case .operation(let operation): return operation.kind == .action ? Kinds.action : Kinds.readOnly
        }
    }

    /// The lists of methods, created only once because each request needs one.
    private enum Kinds {
        static let readOnly: [ODataRequest.Method] = [.read]
        static let action: [ODataRequest.Method] = [.create]
        /// The collection itself cannot be deleted, but its members can, by `$each`.
        static let entities: [ODataRequest.Method] = [.read, .create, .update, .replace]
        static let members: [ODataRequest.Method] = [.update, .replace, .delete]
        /// The methods of an entity and of a property.
        static let entity: [ODataRequest.Method] = [.read, .update, .replace, .delete]
        static let singleton: [ODataRequest.Method] = [.read, .update, .replace]
        static let collection: [ODataRequest.Method] = [.read, .update, .replace, .delete, .create]
        /// The methods of a raw value and of a reference to one entity.
        static let value: [ODataRequest.Method] = [.read, .replace, .delete]
        static let references: [ODataRequest.Method] = [.read, .create, .replace, .delete]
    }

    /// The names of the methods for `Allow`.
    var names: [String] { Self.withHead(methods.filter(isAllowed).map(\.rawValue)) }

    static func listed(_ methods: [String]) -> String { withHead(methods).joined(separator: ", ") }

    /// Adds HEAD if GET is supported.
    private static func withHead(_ names: [String]) -> [String] {
        guard names.contains("GET"), !names.contains("HEAD") else { return names }
        return ["GET", "HEAD"] + names.filter { $0 != "GET" }
    }

    func check(_ method: ODataRequest.Method) throws(ODataError) {
        guard isAllowed(method) else { throw .methodNotAllowed(method, allowed: names) }
    }

    /// Checks the method of a request. The entity set is copied only if the kind of resource does not decide.
    static func check(_ method: ODataRequest.Method, of resource: BoundResource) throws(ODataError) {
        if method == .read, methods(resource).contains(.read) { return }
        try MethodRules(resource).check(method)
    }
}

/// The operation that a message requests (OData Protocol 4.01, 11.1 to 11.5).
enum RequestedMethod: Hashable {
    /// A method of OData, including HEAD as a read.
    case data(ODataRequest.Method)
    /// A method that OData does not define.
    case other(String)

    /// Reads the method of a message, or the method that a POST tunnels.
    ///
    /// - Throws: 400 if a message other than a POST states a tunnelled method, or if the tunnelled method needs no
    ///   tunnel.
    init(_ message: HTTPRequest) throws(ODataError) {
        try self.init(message.method, RequestFields(message.headerFields))
    }

    /// Reads the method of a message with collected fields, as ``init(_:)`` does.
    init(_ method: HTTPRequest.Method, _ fields: RequestFields) throws(ODataError) {
        guard let override = fields.httpMethod ?? fields.httpMethodOverride else {
            self = Self.method(method.rawValue)
            return
        }
        let name = fields.httpMethod == nil ? "X-HTTP-Method-Override" : "X-HTTP-Method"
        let stated = override.uppercased()
        guard method == .post, ["PATCH", "PUT", "DELETE", "MERGE"].contains(stated) else {
            throw ODataError(
                status: 400, code: "InvalidHeader",
                message: "\(name) can only turn a POST into PATCH, PUT or DELETE.", target: name)
        }
        self = Self.method(stated)
    }

    private static func method(_ name: String) -> RequestedMethod {
        switch name {
        case "HEAD": .data(.read)
        // The earlier name of PATCH (MS-ODATA, 2.2.4.1).
        case "MERGE": .data(.update)
        default: ODataRequest.Method(rawValue: name).map { .data($0) } ?? .other(name)
        }
    }
}
