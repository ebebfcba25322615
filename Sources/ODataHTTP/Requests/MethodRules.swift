import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// Which methods a resource has (OData Protocol 4.01, 11.1 to 11.5).
struct MethodRules {
    /// The methods allowed.
    let allowed: [ODataRequest.Method]

    init(_ resource: BoundResource) {
        let isEach = resource.steps.contains { if case .each = $0 { true } else { false } }
        switch resource.target {
        case .service, .metadata, .count, .all, .crossJoin: allowed = [.read]
        case .batch: allowed = [.create]
        case .entityByID: allowed = [.read, .update, .replace, .delete]
        case .entities: allowed = isEach ? [.update, .replace, .delete] : [.read, .create, .update, .replace, .delete]
        case .entity: allowed = [.read, .update, .replace, .delete]
        case .property(let property, _):
            let isCollection = property.type.isCollection
            allowed = [.read, .update, .replace, .delete] + (isCollection ? [.create] : [])
        case .rawValue: allowed = [.read, .replace, .delete]
        case .references(_, _, _, let isCollection):
            allowed = isCollection ? [.read, .create, .replace, .delete] : [.read, .replace, .delete]
        case .operation(let operation): allowed = operation.kind == .action ? [.create] : [.read]
        }
    }

    /// The methods as `Allow` lists them: what can be read also has HEAD.
    var names: [String] {
        let names = allowed.map(\.rawValue)
        return names.contains("GET") ? ["GET", "HEAD"] + names.filter { $0 != "GET" } : names
    }

    func check(_ method: ODataRequest.Method) throws(ODataError) {
        guard allowed.contains(method) else { throw .methodNotAllowed(method, allowed: names) }
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
