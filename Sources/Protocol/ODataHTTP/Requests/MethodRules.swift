import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// Which methods a resource has (OData Protocol 4.01, 11.1 to 11.5).
struct MethodRules {
    /// What the kind of resource has.
    private let methods: [ODataRequest.Method]
    /// The set whose entities it is of.
    private let set: EntitySet?

    /// The methods of a resource, without those that the model says a set does not have.
    init(_ resource: BoundResource) {
        methods = Self.methods(resource)
        switch resource.target {
        case .entities(_, let set), .entity(_, let set): self.set = set
        default: set = nil
        }
    }

    /// Whether the resource has a method.
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
        // What a function gives is read, whatever it is.
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

    /// The lists, made once: each request asks for one.
    private enum Kinds {
        static let readOnly: [ODataRequest.Method] = [.read]
        static let action: [ODataRequest.Method] = [.create]
        /// The collection itself is not deleted: its members are, by `$each`.
        static let entities: [ODataRequest.Method] = [.read, .create, .update, .replace]
        static let members: [ODataRequest.Method] = [.update, .replace, .delete]
        /// Of an entity, and of a property.
        static let entity: [ODataRequest.Method] = [.read, .update, .replace, .delete]
        static let singleton: [ODataRequest.Method] = [.read, .update, .replace]
        static let collection: [ODataRequest.Method] = [.read, .update, .replace, .delete, .create]
        /// Of a raw value, and of the reference to one entity.
        static let value: [ODataRequest.Method] = [.read, .replace, .delete]
        static let references: [ODataRequest.Method] = [.read, .create, .replace, .delete]
    }

    /// The methods as `Allow` lists them.
    var names: [String] { Self.withHead(methods.filter(isAllowed).map(\.rawValue)) }

    /// The value of `Allow`.
    static func listed(_ methods: [String]) -> String { withHead(methods).joined(separator: ", ") }

    /// What can be read also has HEAD.
    private static func withHead(_ names: [String]) -> [String] {
        guard names.contains("GET"), !names.contains("HEAD") else { return names }
        return ["GET", "HEAD"] + names.filter { $0 != "GET" }
    }

    func check(_ method: ODataRequest.Method) throws(ODataError) {
        guard isAllowed(method) else { throw .methodNotAllowed(method, allowed: names) }
    }

    /// Checks the method of a request, without a copy of the entity set where nothing but the kind of the resource decides.
    static func check(_ method: ODataRequest.Method, of resource: BoundResource) throws(ODataError) {
        if method == .read, methods(resource).contains(.read) { return }
        try MethodRules(resource).check(method)
    }
}

/// What a message asks to be done (OData Protocol 4.01, 11.1 to 11.5).
enum RequestedMethod: Hashable {
    /// A method of OData; HEAD reads.
    case data(ODataRequest.Method)
    /// A method that OData does not have.
    case other(String)

    /// Reads the method of a message, or the one that a POST names as the method it stands for.
    ///
    /// - Throws: 400 where something other than a POST is to stand for another method, or a POST for one that a
    ///   client can always send.
    init(_ message: HTTPRequest) throws(ODataError) {
        try self.init(message.method, RequestFields(message.headerFields))
    }

    /// Reads the method of a message whose fields are known, as ``init(_:)``.
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
                message: "\(name) lets a POST stand for PATCH, PUT or DELETE, and nothing else.", target: name)
        }
        self = Self.method(stated)
    }

    private static func method(_ name: String) -> RequestedMethod {
        switch name {
        case "HEAD": .data(.read)
        // What PATCH was called before it was a standard (MS-ODATA, 2.2.4.1).
        case "MERGE": .data(.update)
        default: ODataRequest.Method(rawValue: name).map { .data($0) } ?? .other(name)
        }
    }
}
