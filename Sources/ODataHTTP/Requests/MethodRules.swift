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
            return operation.kind == .action ? [.create] : [.read]
        }
        switch resource.target {
        case .service, .metadata, .count, .all, .crossJoin: return [.read]
        case .batch: return [.create]
        case .entityByID: return [.read, .update, .replace, .delete]
        case .entities:
            // The collection itself is not deleted: its members are, by $each.
            return resource.steps.contains(.each) ? [.update, .replace, .delete] : [.read, .create, .update, .replace]
        case .entity:
            if case .singleton? = resource.steps.last { return [.read, .update, .replace] }
            return [.read, .update, .replace, .delete]
        case .property(let property, _):
            return [.read, .update, .replace, .delete] + (property.type.isCollection ? [.create] : [])
        case .rawValue: return [.read, .replace, .delete]
        case .references(_, _, _, let isCollection):
            return isCollection ? [.read, .create, .replace, .delete] : [.read, .replace, .delete]
        case .operation(let operation): return operation.kind == .action ? [.create] : [.read]
        }
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
        let fields = message.headerFields
        let override = fields[.httpMethod] ?? fields[.httpMethodOverride]
        guard let override else {
            self = Self.method(message.method.rawValue)
            return
        }
        let name = fields[.httpMethod] == nil ? "X-HTTP-Method-Override" : "X-HTTP-Method"
        let stated = override.uppercased()
        guard message.method == .post, ["PATCH", "PUT", "DELETE", "MERGE"].contains(stated) else {
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
