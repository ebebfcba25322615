import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Calls of operations (OData Protocol 4.01, 11.5).
extension StoreService {
    // MARK: Functions

    /// Calls a function and applies the rest of the URL to its result.
    func callFunction(
        _ bound: BoundURL, _ request: ODataRequest, provider: StoreProvider
    ) async throws -> ODataResponse {
        guard let (operation, position) = bound.resource.operation else { throw ODataError.notFound("the operation") }
        guard operation.kind == .function else { throw ODataError.methodNotAllowed(.read, allowed: ["POST"]) }
        let result = try await StoreReader.translating {
            try await request.context.budget.reading(from: database) { [self] database in
                try call(operation, at: position, of: bound, request, in: database).0
            }
        }
        return try await answer(result, operation, at: position, of: bound, request: request, provider: provider)
    }

    /// Runs the handler of an operation.
    func call(
        _ operation: ODataOperation, at position: Int, of bound: BoundURL, _ request: ODataRequest,
        in database: Database
    ) throws -> (ComposedResult, RememberedRequests.Answer) {
        var arguments: [String: ODataValue] = [:]
        if operation.kind == .action, case .parameters(let given) = request.body { arguments = given }
        if case .operation(_, let given) = bound.resource.steps[position] {
            for (name, expression) in given { arguments[name] = try Self.constant(expression, name) }
        }
        // The overloads of an action are distinguished by the parameters in the body.
        let overload =
            operation.kind == .action ? model.overload(of: operation, taking: Set(arguments.keys)) : operation
        guard let handler = core.definition.operations[OperationSignature(overload)] else {
            throw ODataError.notImplemented(operation.name.description)
        }
        try check(arguments, of: overload)
        let transaction = ServiceTransaction(core: core, database: database, request: request)
        var binding: BoundURL?
        if overload.isBound {
            binding = try self.binding(bound, before: position, request: request, in: database)
        }
        let call = ServiceCall(
            operation: overload, arguments: arguments, request: request, transaction: transaction, binding: binding)
        let result = try handler(call)
        return (try ComposedResult(result, overload, transaction: transaction), RememberedRequests.Answer(result))
    }

    /// Returns the resolved binding parameter. A bound entity must exist.
    private func binding(
        _ bound: BoundURL, before position: Int, request: ODataRequest, in database: Database
    ) throws -> BoundURL {
        let steps = Array(bound.resource.steps[..<position])
        guard let place = EntityPlace(steps) else { throw ODataError.notImplemented("An operation on this path") }
        try checkParents(of: steps, core.reader(for: request.context.principal), in: database)
        let resource = BoundResource(
            steps: steps,
            target: place.isCollection ? .entities(place.shape, set: place.set) : .entity(place.shape, set: place.set))
        if !place.isCollection {
            // A caller who may not see the entity cannot call an operation on it.
            let reader = core.reader(for: request.context.principal)
            let query = StoreReader.query(place.shape, place.set)
            let (compiled, options) = try reader.prepare(query, steps, now: self.options.now(), in: database)
            let found = try StoreReader.entities(
                compiled, query, mapping: core.mapping, options: options, in: database, limit: 1
            ).first
            guard let found else { throw ODataError.notFound(StoreReader.name(of: steps)) }
            let name = found.control.id ?? place.shape.name.description
            if operation(at: position, in: bound)?.kind == .action {
                try core.writer.checkPrecondition(
                    request, etag: found.control.etag, of: place.storedSet, resource: name)
            } else if let wanted = request.ifMatch, !RowWriter.matches(wanted, found.control.etag) {
                // The function would be evaluated on another state of the entity than the client expects (8.2.4).
                throw ODataError.preconditionFailed(name)
            }
        }
        return BoundURL(resource: resource, query: nil)
    }

    private func operation(at position: Int, in bound: BoundURL) -> ODataOperation? {
        if case .operation(let operation, _) = bound.resource.steps[position] { operation } else { nil }
    }

    private static func constant(_ expression: BoundExpression, _ name: String) throws -> ODataValue {
        switch expression {
        case .constant(let value, _): return value
        case .cast(.constant(let value, _), _): return value
        default: throw ODataError.notImplemented("An expression as the parameter \(name)")
        }
    }

    /// Checks the arguments against the declaration: names, types, and that required ones are present.
    private func check(_ arguments: [String: ODataValue], of operation: ODataOperation) throws {
        let parameters = operation.ownParameters
        if let unknown = arguments.keys.sorted().first(where: { name in !parameters.contains { $0.name == name } }) {
            throw ODataError(
                status: 400, code: "UnknownParameter", message: "\(operation.name) has no parameter \(unknown).",
                target: unknown)
        }
        let check = ValueCheck(model: model)
        for parameter in parameters {
            guard let value = arguments[parameter.name] else {
                if parameter.mayBeLeftOut || (operation.kind == .action && parameter.isNullable) { continue }
                throw ODataError(
                    status: 400, code: "MissingParameter",
                    message: "\(operation.name) needs the parameter \(parameter.name).", target: parameter.name)
            }
            let property = Property(
                name: parameter.name, type: parameter.type, isNullable: parameter.isNullable, facets: parameter.facets)
            try check.check(value, for: property, path: parameter.name)
        }
    }

    // MARK: Actions

    /// Calls an action in a transaction. The result is encoded after the commit.
    func callAction(
        _ bound: BoundURL, _ request: ODataRequest, in database: Database
    ) throws -> (ComposedResult, RememberedRequests.Answer) {
        guard let (operation, position) = bound.resource.operation else { throw ODataError.notFound("the operation") }
        guard operation.kind == .action else { throw ODataError.methodNotAllowed(request.method, allowed: ["GET"]) }
        guard request.method == .create else {
            throw ODataError.methodNotAllowed(request.method, allowed: ["POST"])
        }
        return try call(operation, at: position, of: bound, request, in: database)
    }

    // MARK: Answers

    /// Returns the response to a call, with the rest of the URL applied to the result.
    func answer(
        _ result: ComposedResult, _ operation: ODataOperation, at position: Int, of bound: BoundURL,
        request: ODataRequest, provider: StoreProvider
    ) async throws -> ODataResponse {
        let rest = Array(bound.resource.steps[(position + 1)...])
        switch result {
        case .none: return ODataResponse(status: 204)
        case .value(let value, let type):
            if case .collection(let members) = value, case .count = bound.resource.target {
                return ODataResponse(body: .count(Int64(members.count)))
            }
            if value.isNull { return ODataResponse(status: 204) }
            guard rest.isEmpty, !bound.resource.target.isRawValue else {
                return try Self.part(of: value, type, rest: rest, target: bound.resource.target, model: model)
            }
            return ODataResponse(body: .value(try core.reader.narrowed(value, by: bound.query), type))
        case .transient(let entities, let isCollection):
            return try transient(entities, isCollection: isCollection, rest: rest, bound: bound, request: request)
        case .stored(let place, let order):
            var continued = try ComposedRead(place, rest, bound: bound, request: request, binder: core.binder)
            continued.order = order
            return try await read(continued, request, provider: provider)
        }
    }

    /// Returns entities that are not stored. Query options are evaluated in memory.
    private func transient(
        _ entities: [ODataEntity], isCollection: Bool, rest: [BoundSegment], bound: BoundURL, request: ODataRequest
    ) throws -> ODataResponse {
        guard rest.isEmpty else { throw ODataError.notImplemented("A path behind entities that are not stored") }
        guard var query = bound.query else {
            return ODataResponse(
                body: isCollection ? .page(EntityPage(entities: entities)) : entities.first.map { .entity($0) } ?? .none
            )
        }
        let memory = EntitiesInMemory(entities, model: model, now: options.now())
        if case .count = bound.resource.target {
            query.expand = []
            return ODataResponse(body: .count(Int64(try memory.page(query).entities.count)))
        }
        if isCollection { return try page(memory, query, request: request) }
        guard let entity = try memory.page(query).entities.first else { return ODataResponse(status: 204) }
        return ODataResponse(body: .entity(entity), etag: entity.control.etag)
    }

    private func read(
        _ composed: ComposedRead, _ request: ODataRequest, provider: StoreProvider
    ) async throws -> ODataResponse {
        let bound = try restricted(composed.bound, request)
        guard let order = composed.order, composed.keepsOrder else {
            do {
                return try await read(bound, request, provider: provider)
            } catch let error as ODataError where error.status == 404 && composed.isOwnEntity {
                return ODataResponse(status: 204)
            }
        }
        // The order of the operation's result does not depend on columns.
        var all = bound
        let (top, skip) = (all.query?.top, all.query?.skip ?? 0)
        all.query?.top = nil
        all.query?.skip = nil
        all.query?.skipToken = nil
        var plain = request
        plain.format = nil
        plain.preferences.maxPageSize = nil
        let (query, steps) = (all.query, all.resource.steps)
        guard let query else { throw ODataError.notImplemented("This result") }
        let entities = try await StoreReader.translating {
            try await request.context.budget.reading(from: database) { [core] database in
                let (compiled, options) = try provider.reader.prepare(
                    query, steps, now: core.options.now(), in: database)
                var paging = ExpandPaging()
                paging.budget = request.context.budget
                return try StoreReader.entities(
                    compiled, query, mapping: core.mapping, options: options, in: database, limit: .max,
                    paging: paging)
            }
        }
        let positions = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let sorted = entities.sorted {
            (positions[$0.control.id ?? ""] ?? .max) < (positions[$1.control.id ?? ""] ?? .max)
        }
        let rows = Array(sorted.dropFirst(skip).prefix(top ?? .max))
        let start = try ResultPosition(request.url.options.skipToken).offset
        let size = request.preferences.maxPageSize.map { max(1, $0) } ?? .max
        var page = EntityPage(
            entities: Array(rows.dropFirst(start).prefix(size)), count: query.count ? Int64(sorted.count) : nil)
        if rows.count - start > size {
            var url = request.url
            url.options.skipToken = ResultPosition(offset: start + size).text
            page.nextLink = (request.format?.serviceRoot ?? "") + url.urlEncoded()
        }
        var response = ODataResponse(body: try await withStreams(.page(page), root: ""))
        if let wanted = request.preferences.maxPageSize {
            response.preferencesApplied.append("maxpagesize=\(max(1, wanted))")
        }
        return response
    }

    /// Returns the part of a value that the rest of the path addresses.
    private static func part(
        of value: ODataValue, _ type: TypeReference, rest: [BoundSegment], target: BoundResource.Target,
        model: EntityDataModel
    ) throws -> ODataResponse {
        var (value, type) = (value, type)
        for step in rest {
            guard case .property(let property, _, _) = step, case .complex(let holder) = value else {
                throw ODataError.notImplemented("The path behind the operation")
            }
            (value, type) = (holder[property.name] ?? .null, property.type)
        }
        if value.isNull { return ODataResponse(status: 204) }
        guard target.isRawValue else { return ODataResponse(body: .value(value, type)) }
        return ODataResponse(body: try StoreReader.raw(value, type, model: model))
    }
}

extension BoundResource.Target {
    fileprivate var isRawValue: Bool {
        if case .rawValue = self { true } else { false }
    }
}

/// The position in a function result whose order does not depend on columns. `$skiptoken` carries the position;
/// the function is called again for each page.
private struct ResultPosition {
    private static let mark = "f~"

    var offset: Int

    init(offset: Int) { self.offset = offset }

    /// Reads a token; `nil` stands for the start.
    ///
    /// - Throws: ``ODataError`` 400 for any other text.
    init(_ token: String?) throws(ODataError) {
        offset = 0
        guard let token else { return }
        guard token.hasPrefix(Self.mark), let given = Int(token.dropFirst(Self.mark.count)), given > 0 else {
            throw PageToken.invalid
        }
        offset = given
    }

    var text: String { Self.mark + String(offset) }
}
