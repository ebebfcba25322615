import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Requests that change data, each within a transaction of the caller.
extension StoreProvider {
    /// Reads a raw value from its stream before the transaction begins, so that no transaction waits for the
    /// network.
    package func prepared(_ request: ODataRequest, _ bound: BoundURL) async throws -> ODataRequest {
        guard case .media(let stream, _) = request.body, case .rawValue(let property?) = bound.resource.target else {
            return request
        }
        let bytes = try await stream.collect(limit: options.valueSizeLimit)
        var request = request
        if property.type.primitive == .binary {
            request.body = .value(.binary(bytes), property.type)
        } else {
            guard let text = String(validating: bytes, as: UTF8.self), let type = property.type.primitive else {
                throw ODataError(
                    status: 400, code: "InvalidValue", message: "\(property.name) must be text.",
                    target: property.name)
            }
            do {
                request.body = .value(try ODataValue(lexical: text, type: type), property.type)
            } catch {
                throw ODataError(
                    status: 400, code: "InvalidValue", message: "\(property.name): \(error)", target: property.name)
            }
        }
        return request
    }

    /// Performs a change in a transaction of the caller.
    ///
    /// - Parameters:
    ///   - request: a request that changes data, except batches and streams.
    ///   - database: a connection in a transaction; the caller rolls it back if this method throws.
    /// - Throws: ``ODataError`` if the change is refused, and errors of the database.
    public func change(_ request: ODataRequest, in database: Database) throws -> ODataResponse {
        try perform(request, try bind(request), in: database)
    }

    /// Reads entities in a transaction of the caller.
    ///
    /// - Parameters:
    ///   - url: a collection of entities with query options, or one entity.
    ///   - database: a connection.
    /// - Throws: ``ODataError`` if the query is refused or addresses another resource.
    public func entities(_ url: ODataURL, in database: Database) throws -> [ODataEntity] {
        let bound = try bind(ODataRequest(.read, url))
        let query: BoundQuery
        switch bound.resource.target {
        case .entities(let shape, let set), .entity(let shape, let set):
            query = bound.query ?? StoreReader.query(shape, set)
        default: throw ODataError.notImplemented("This resource within a transaction")
        }
        var options = SQLCompiler.Options(
            now: self.options.now(), hasHiddenOwners: try reader.configuration.hasHiddenOwners(database))
        options.loadedData = try reader.configuration.loadedData(database)
        let compiled = try SQLCompiler(mapping: mapping, options: options).compile(query, at: bound.resource.steps)
        try compiled.requirements.check(in: database)
        return try StoreReader.entities(compiled, query, mapping: mapping, options: options, in: database, limit: .max)
    }

    /// Performs a request that changes data.
    package func perform(_ request: ODataRequest, _ bound: BoundURL, in database: Database) throws -> ODataResponse {
        if case .operation(let operation) = bound.resource.target {
            guard operation.kind == .action else { throw ODataError.methodNotAllowed(request.method, allowed: ["GET"]) }
            guard request.method == .create else {
                throw ODataError.methodNotAllowed(request.method, allowed: ["POST"])
            }
            guard !options.isReadOnly else { throw ODataError.methodNotAllowed(request.method, allowed: []) }
            return try call(operation, bound.resource, request: request, in: database)
        }
        guard !options.isReadOnly else { throw ODataError.methodNotAllowed(request.method, allowed: ["GET"]) }
        try checkOptions(of: request, bound.resource)
        if bound.resource.steps.last == .each { return try changeEach(request, bound, in: database) }
        switch (request.method, bound.resource.target) {
        case (.create, .entities): return try create(request, bound.resource, in: database)
        case (.update, .entity), (.replace, .entity): return try change(request, bound.resource, in: database)
        case (.delete, .entity): return try delete(request, bound.resource, in: database)
        case (.create, .property(let property, _)) where property.type.isCollection:
            return try changeProperty(request, bound.resource, in: database)
        case (_, .property) where request.method != .create, (_, .rawValue(.some)) where request.method != .create:
            return try changeProperty(request, bound.resource, in: database)
        case (.update, .entities), (.replace, .entities):
            return try changeCollection(request, bound, in: database)
        case (_, .references(let navigation, _, _, let isCollection)):
            return try changeReference(request, bound, navigation: navigation, isCollection: isCollection, in: database)
        case (_, .rawValue(nil)): throw ODataError.notImplemented("Media")
        default:
            throw ODataError.methodNotAllowed(request.method, allowed: allowedMethods(bound.resource))
        }
    }

    /// Returns the supported methods of a resource, for the `Allow` header.
    private func allowedMethods(_ resource: BoundResource) -> [String] {
        func set(_ fallback: EntitySet?) -> String? {
            for step in resource.steps.reversed() {
                switch step {
                case .navigation(_, let set, _): return set?.name
                case .entitySet(let set, _): return set.name
                case .singleton(let singleton, _): return singleton.name
                default: continue
                }
            }
            return fallback?.name
        }
        switch resource.target {
        case .entities(_, let declared):
            return set(declared).map { writer.allowedMethods(of: $0, isEntity: false) } ?? ["GET"]
        case .entity(_, let declared):
            let methods = set(declared).map { writer.allowedMethods(of: $0, isEntity: true) } ?? ["GET"]
            if case .singleton? = resource.steps.last { return methods.filter { $0 != "DELETE" } }
            return methods
        case .property(let property, _):
            return ["GET"] + (property.type.isCollection ? ["POST"] : []) + ["PUT", "PATCH", "DELETE"]
        case .rawValue: return ["GET", "PUT", "DELETE"]
        case .references(_, _, _, let isCollection):
            return isCollection ? ["GET", "POST", "PUT", "DELETE"] : ["GET", "PUT", "DELETE"]
        case .batch: return ["POST"]
        default: return ["GET"]
        }
    }

    /// Returns the entity in the body of a request.
    func entity(_ request: ODataRequest) throws -> ODataEntity {
        switch request.body {
        case .entity(let entity): return entity
        case .media: throw ODataError.notImplemented("Media")
        default:
            throw ODataError(status: 400, code: "InvalidBody", message: "An entity was expected in the body.")
        }
    }

    // MARK: Entities

    private func create(
        _ request: ODataRequest, _ resource: BoundResource, in database: Database
    ) throws -> ODataResponse {
        let entity = try entity(request)
        let target = try WriteTarget(resource, writer: writer, database: database)
        let row: RowWriter.WrittenRow
        if let via = target.via {
            row = try writer.createRelated(entity, via: via, request: request, in: database)
        } else {
            row = try writer.create(
                entity, in: target.set, parent: target.parent, request: request, database: database)
        }
        return answer(row, request, status: 201)
    }

    private func change(
        _ request: ODataRequest, _ resource: BoundResource, in database: Database
    ) throws -> ODataResponse {
        let target = try WriteTarget(resource, writer: writer, database: database)
        try target.checkCasts(writer: writer, in: database)
        let entity = try entity(request)
        if target.isMissing, let via = target.via {
            guard via.isContainment, request.ifMatch == nil else {
                throw writer.missing("\(via.row.id)/\(via.path)", request)
            }
            let row = try writer.createRelated(entity, via: via, request: request, in: database)
            return answer(row, request, status: 201)
        }
        let row =
            request.method == .replace
            ? try writer.replace(
                entity, key: target.key, in: target.set, parent: target.parent, request: request, database: database)
            : try writer.update(
                entity, key: target.key, in: target.set, parent: target.parent, request: request, database: database)
        return answer(row, request, status: row.isNew ? 201 : 200)
    }

    private func delete(
        _ request: ODataRequest, _ resource: BoundResource, in database: Database
    ) throws -> ODataResponse {
        let target = try WriteTarget(resource, writer: writer, database: database)
        guard model.singleton(target.set) == nil else {
            throw ODataError.methodNotAllowed(request.method, allowed: allowedMethods(resource))
        }
        if target.isMissing { _ = try target.row(writer: writer, in: database) }
        try target.checkCasts(writer: writer, in: database)
        try writer.delete(
            key: target.key, in: target.set, parent: target.parent, request: request, database: database)
        return ODataResponse(status: 204)
    }

    /// Returns the response to a create or update (OData Protocol 4.01, 8.2.8.7 and 11.4.2).
    ///
    /// The response to a create contains the entity unless the request has `return=minimal`; the response to an
    /// update contains it only with `return=representation`.
    private func answer(_ row: RowWriter.WrittenRow, _ request: ODataRequest, status: Int) -> ODataResponse {
        let returns = request.preferences.returns
        let isReturned = returns == .representation || (returns == nil && status == 201)
        var response = ODataResponse(
            status: isReturned ? status : 204, body: isReturned ? .entity(row.entity) : .none, etag: row.etag)
        response.isETagForeseeable = row.isForeseeable
        if status == 201 {
            response.location = row.id
            if !isReturned { response.entityID = row.id }
        }
        if let returns { response.preferencesApplied.append("return=\(returns.rawValue)") }
        return response
    }

    /// Reads the entity of a response again if the request has `$select` or `$expand`.
    ///
    /// - Parameter reading: reads the entity; by default, with this provider.
    package func completed(
        _ response: ODataResponse, _ request: ODataRequest,
        reading: ((ODataRequest) async throws -> ODataResponse)? = nil
    ) async throws -> ODataResponse {
        guard case .entity(let entity) = response.body, let id = entity.control.id,
            !request.url.options.select.isEmpty || !request.url.options.expand.isEmpty,
            var url = try? ODataURL(parsing: id)
        else { return response }
        url.options.select = request.url.options.select
        url.options.expand = request.url.options.expand
        var again = ODataRequest(.read, url, format: request.format).sharing(request.context.budget)
        again.context.principal = request.context.principal
        var response = response
        response.body = try await (reading ?? execute)(again).body
        return response
    }

    // MARK: Properties

    private func changeProperty(
        _ request: ODataRequest, _ resource: BoundResource, in database: Database
    ) throws -> ODataResponse {
        let target = try WriteTarget(resource, writer: writer, database: database)
        let row = try target.row(writer: writer, in: database)
        guard let property = target.properties.last else { throw ODataError.notFound(row.id) }
        try checkUpdatable(target, row)
        let value: ODataValue
        switch (request.method, request.body) {
        case (.delete, _): value = property.type.isCollection ? .collection([]) : .null
        case (.create, .value(let member, _)):
            // POST appends a member to a collection (11.4.9.3).
            guard case .collection(let members)? = row.entity.value(at: target.properties) else {
                throw ODataError.notFound("\(row.id)/\(property.name)")
            }
            value = .collection(members + [member])
        case (_, .value(let given, _)): value = given
        case (_, .entity(let given)): value = .complex(given)
        default:
            throw ODataError(
                status: 400, code: "InvalidBody", message: "The value of \(property.name) was expected in the body.")
        }
        var patch = ODataEntity(shape: row.entity.shape)
        let path = target.properties
        // PATCH merges values; other methods replace the whole value at the end of the path.
        let merges = request.method == .update
        patch[path[0].name] = try nested(
            merges ? value : writer.completed(value), path.dropFirst(), in: row.entity[path[0].name], of: path[0])
        var request = request
        request.method = .update
        let changed = try writer.update(
            patch, merging: merges ? .max : path.count - 1, key: target.key, in: target.set, parent: target.parent,
            request: request, database: database)
        guard request.preferences.returns == .representation, !value.isNull else {
            var response = ODataResponse(status: 204, etag: changed.etag)
            response.isETagForeseeable = changed.isForeseeable
            if let returns = request.preferences.returns {
                response.preferencesApplied.append("return=\(returns.rawValue)")
            }
            return response
        }
        // PATCH retains the properties that the request omits.
        let written = changed.entity.value(at: target.properties) ?? value
        var response = ODataResponse(body: .value(written, property.type), etag: changed.etag)
        response.preferencesApplied.append("return=representation")
        return response
    }

    /// Checks that a single property can be updated. Updates of entities ignore some properties, but a request for
    /// such a property alone would have no effect and is refused (OData Protocol 4.01, 11.4.9; Core vocabulary).
    ///
    /// - Throws: 400 with the property as target for key properties, computed properties and immutable properties.
    private func checkUpdatable(_ target: WriteTarget, _ row: RowWriter.WrittenRow) throws {
        let reserved = writer.rules.reserved[target.set] ?? []
        let path = target.properties.map(\.name).joined(separator: "/")
        let (code, reason): (String, String)
        if row.entity.shape.key.contains(where: { $0.path == path }) {
            (code, reason) = ("KeyProperty", "is part of the key")
        } else if target.properties.contains(where: \.isComputed) || reserved.contains(target.properties[0].name) {
            (code, reason) = ("ComputedProperty", "is given by the service")
        } else if target.properties.contains(where: \.isImmutable) {
            (code, reason) = ("ImmutableProperty", "stays as it was created")
        } else {
            return
        }
        throw ODataError(status: 400, code: code, message: "\(path) \(reason).", target: path)
    }

    /// Returns a value of a property in which only the member at the end of a path is set.
    private func nested(
        _ value: ODataValue, _ path: ArraySlice<Property>, in current: ODataValue?, of property: Property
    ) throws -> ODataValue {
        guard let next = path.first else { return value }
        guard case .complex(let name?) = property.type, let shape = model.shape(name) else {
            throw ODataError.notFound("\(property.name)/\(next.name)")
        }
        var stored: ODataEntity?
        if case .complex(let entity)? = current { stored = entity }
        var holder = ODataEntity(shape: stored?.shape ?? shape)
        holder[next.name] = try nested(value, path.dropFirst(), in: stored?[next.name], of: next)
        return .complex(holder)
    }

    // MARK: References

    /// Performs POST, PUT and DELETE of `$ref` (OData Protocol 4.01, 11.4.6).
    private func changeReference(
        _ request: ODataRequest, _ bound: BoundURL, navigation: NavigationProperty?, isCollection: Bool,
        in database: Database
    ) throws -> ODataResponse {
        guard let navigation,
            let position = bound.resource.steps.lastIndex(where: {
                if case .navigation(let step, _, _) = $0 { step == navigation } else { false }
            })
        else {
            throw ODataError.methodNotAllowed(request.method, allowed: ["GET"])
        }
        let base = BoundResource(steps: Array(bound.resource.steps[..<position]), target: .service)
        let target = try WriteTarget(base, writer: writer, database: database)
        let row = try target.row(writer: writer, in: database)
        try writer.checkPrecondition(request, etag: row.etag, of: row.set, resource: row.id)
        let wanted = request.url.options.id
        let request = request.unconditional
        let path = (target.properties.map(\.name) + [navigation.name]).joined(separator: "/")
        let method: ODataRequest.Method = navigation.isCollection ? .create : .replace
        switch request.method {
        case method:
            guard case .reference(let id) = request.body else {
                throw ODataError(
                    status: 400, code: "InvalidBody", message: "A reference to an entity was expected in the body.")
            }
            try writer.link(row, navigation: path, to: id, request: request, in: database)
        case .replace:
            // PUT replaces all references of a collection (11.4.6.3).
            guard case .references(let ids) = request.body else {
                throw ODataError(
                    status: 400, code: "InvalidBody", message: "References to entities were expected in the body.")
            }
            try writer.replaceLinks(
                of: row, navigation: path, by: ids, in: WriteContext(request: request, database: database))
        case .delete:
            var id = wanted
            if case .key(let key)? = bound.resource.steps.dropFirst(position + 1).first,
                let set = mapping.tables[row.set]?.navigation[path]?.target, let shape = mapping.tables[set]?.shape
            {
                id = EntityID.canonical(set: set, key: key, shape: shape, model: model)
            }
            if navigation.isCollection, id == nil {
                throw ODataError(
                    status: 400, code: "InvalidQuery", message: "The option $id must name the entity.", target: "$id")
            }
            try writer.unlink(row, navigation: path, from: id, request: request, in: database)
        default:
            throw ODataError.methodNotAllowed(
                request.method,
                allowed: navigation.isCollection ? ["GET", "POST", "PUT", "DELETE"] : ["GET", "PUT", "DELETE"])
        }
        return ODataResponse(status: 204)
    }
}

extension RowWriter {
    /// Creates an entity that is related to a row, in a collection of related entities.
    func createRelated(
        _ entity: ODataEntity, via: WriteTarget.Via, request: ODataRequest, in database: Database
    ) throws -> WrittenRow {
        let plan = try plan(via.row.set)
        guard let storage = plan.storage.navigation[via.path] else { throw ODataError.notImplemented(via.path) }
        return try createDependent(
            entity, of: via.row, name: via.path, storage, plan: plan,
            in: WriteContext(request: request, database: database))
    }
}
