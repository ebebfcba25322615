import Foundation
import GRDB
import ODataModel
import ODataService

/// The search for rows, and the checks before changes.
extension RowWriter {
    package func plan(_ set: String) throws -> WritePlan {
        guard let plan = plans[set] else { throw ODataError.notImplemented(set) }
        return plan
    }

    /// Returns the plan of a set's table if the set allows the change.
    package func writable(_ set: String, _ term: String, property: String, request: ODataRequest) throws -> WritePlan {
        let plan = try plan(set)
        guard !plan.storage.isReadOnly, rules.ignoresCapabilities || mapping.model.allows(term, property, on: set)
        else {
            throw ODataError.methodNotAllowed(request.method, allowed: allowedMethods(of: set, isEntity: true))
        }
        return plan
    }

    /// Returns the methods that a set, or an entity in it, allows.
    public func allowedMethods(of set: String, isEntity: Bool) -> [String] {
        let isReadOnly = plans[set]?.storage.isReadOnly ?? true
        func allows(_ term: String, _ property: String) -> Bool {
            !isReadOnly && mapping.model.allows(term, property, on: set)
        }
        var methods = ["GET"]
        if isEntity {
            if allows("UpdateRestrictions", "Updatable") { methods += ["PATCH", "PUT"] }
            if allows("DeleteRestrictions", "Deletable"), mapping.model.singleton(set) == nil {
                methods.append("DELETE")
            }
        } else if allows("InsertRestrictions", "Insertable") {
            methods.append("POST")
        }
        return methods
    }

    // MARK: Finding

    /// Returns the row with a key, or the only row of a singleton; `nil` if it does not exist or is hidden.
    package func find(key: EntityKey?, parent: Int64?, plan: WritePlan, in database: Database) throws -> WritePlan
        .Stored?
    {
        var arguments: [DatabaseValue] = []
        if let key {
            for (property, slot) in zip(plan.storage.shape.key, plan.keySlots) {
                guard let column = plan.slots[slot].column, let value = key[property.name] else {
                    throw ODataError(
                        status: 400, code: "InvalidKey", message: "The key value \(property.name) is missing.",
                        target: property.name)
                }
                // A value that does not fit the column is not the key of any row. Bound text ends at U+0000, so
                // that such a key is never found.
                if case .string(let text) = value, text.utf8.contains(0) { return nil }
                guard let stored = try? column.codec.encode(value), !stored.isNull else { return nil }
                arguments.append(stored)
            }
            guard arguments.count == plan.storage.shape.key.count else {
                throw ODataError.notImplemented("A key of \(plan.storage.set)")
            }
        } else if mapping.model.singleton(plan.storage.set) == nil, !plan.isFoundByParent || parent == nil {
            throw ODataError(status: 400, code: "InvalidKey", message: "\(plan.storage.set) needs a key.")
        }
        if let parent { arguments.append(parent.databaseValue) }
        let condition =
            key == nil && parent == nil
            ? "\((plan.storage.rowID ?? OfflineLayout.rowIDColumn).sqlIdentifier) = 1"
            : plan.keyCondition(hasParent: parent != nil)
        let statement = try database.cachedStatement(sql: "\(plan.selection) WHERE \(condition)")
        // SQLite may treat two different keys as equal, because of affinity or collation.
        if key == nil || !plan.hasTextKey,
            let row = try Row.fetchOne(statement, arguments: StatementArguments(arguments))
        {
            return plan.stored(row)
        }
        guard let key, plan.hasVariableKey || plan.hasTextKey else { return nil }
        return try findOtherwiseWritten(key, parent: parent, plan: plan, in: database)
    }

    /// Returns the condition for a row that was found, by row id or by key.
    func address(_ found: WritePlan.Stored, plan: WritePlan) throws -> (condition: String, arguments: [DatabaseValue]) {
        if let column = plan.storage.rowID, let rowID = found.rowID {
            return ("\(column.sqlIdentifier) = ?", [rowID.databaseValue])
        }
        guard !plan.keySlots.isEmpty else { throw ODataError.notImplemented("Changing \(plan.storage.set)") }
        return (
            plan.keySlots.map { "\(plan.slots[$0].name.sqlIdentifier) = ?" }.joined(separator: " AND "),
            plan.keySlots.map { found.slots[$0] }
        )
    }

    /// Reads a row again that was found before.
    func reread(_ found: WritePlan.Stored, plan: WritePlan, in database: Database) throws -> WrittenRow {
        let (condition, arguments) = try address(found, plan: plan)
        return try reread(condition, arguments, plan: plan, in: database)
    }

    /// Reads a row again that was inserted, by its row id or by the written key.
    func reread(
        rowID: Int64?, row: [DatabaseValue?], parent: Int64?, plan: WritePlan, in database: Database
    ) throws -> WrittenRow {
        if let column = plan.storage.rowID, let rowID {
            return try reread("\(column.sqlIdentifier) = ?", [rowID.databaseValue], plan: plan, in: database)
        }
        let condition = plan.keyCondition(hasParent: parent != nil, includesHidden: true)
        var arguments = plan.keySlots.map { row[$0] ?? .null }
        if let parent { arguments.append(parent.databaseValue) }
        return try reread(condition, arguments, plan: plan, in: database)
    }

    private func reread(
        _ condition: String, _ arguments: [DatabaseValue], plan: WritePlan, in database: Database
    ) throws -> WrittenRow {
        let statement = try database.cachedStatement(sql: "\(plan.selection) WHERE \(condition)")
        guard let row = try Row.fetchOne(statement, arguments: StatementArguments(arguments)) else {
            // A trigger of an existing database may have moved the row.
            throw ODataError(
                status: 409, code: "RowVanished", message: "The row of \(plan.storage.set) is gone after the change.")
        }
        return try written(plan.stored(row), plan: plan, in: database)
    }

    /// Throws an error if the database has ignored the last statement, because ON CONFLICT IGNORE and RAISE(IGNORE)
    /// are not errors in SQLite.
    ///
    /// - Parameter found: the row to be changed or deleted; `nil` for an insert.
    func checkIsDone(to found: WritePlan.Stored?, plan: WritePlan, in database: Database) throws {
        // SQLite does not count changes by INSTEAD OF triggers of a view.
        guard database.changesCount == 0, try !database.viewExists(plan.storage.table) else { return }
        if let found {
            // A trigger may have performed the change in another way, for example by marking a row as deleted.
            let (condition, arguments) = try address(found, plan: plan)
            let statement = try database.cachedStatement(sql: "\(plan.selection) WHERE \(condition)")
            guard let row = try Row.fetchOne(statement, arguments: StatementArguments(arguments)) else { return }
            let isSame = zip(plan.stored(row).slots, found.slots).allSatisfy { $0.isIdentical(to: $1) }
            guard isSame else { return }
        }
        throw ODataError(
            status: 409, code: "ChangeIgnored",
            message: "A rule of the database's own ignores this change of \(plan.storage.set).")
    }

    /// Returns the entity of a row with its id.
    func entity(_ stored: WritePlan.Stored, plan: WritePlan, in database: Database) throws -> ODataEntity {
        var entity = try plan.entity(stored)
        entity.control.id = try id(of: entity.key, stored, plan: plan, in: database)
        return entity
    }

    /// Returns the canonical id of a row. The id of a contained entity starts with the id of its container.
    private func id(
        of key: EntityKey?, _ stored: WritePlan.Stored, plan: WritePlan, in database: Database
    ) throws -> String {
        let path = plan.storage.set
        var isAlone = mapping.model.singleton(path) != nil
        var place = path
        if let slash = path.lastIndex(of: "/"), let parent = stored.parent {
            let outer = try self.plan(String(path[..<slash]))
            let column = (outer.storage.rowID ?? OfflineLayout.rowIDColumn).sqlIdentifier
            let statement = try database.cachedStatement(sql: "\(outer.selection) WHERE \(column) = ?")
            if let row = try Row.fetchOne(statement, arguments: [parent]) {
                let container = outer.stored(row)
                let key = try outer.entity(container).key
                place = try id(of: key, container, plan: outer, in: database) + path[slash...]
                let name = String(path[path.index(after: slash)...])
                isAlone = outer.storage.shape.navigationProperty(name)?.isCollection == false
            }
        }
        return EntityID.canonical(
            set: place, key: isAlone ? nil : key, shape: plan.storage.shape, model: mapping.model)
    }

    package func written(_ stored: WritePlan.Stored, plan: WritePlan, in database: Database) throws -> WrittenRow {
        let entity = try entity(stored, plan: plan, in: database)
        return WrittenRow(
            entity: entity, rowID: stored.rowID, etag: entity.control.etag, id: entity.control.id ?? plan.storage.set,
            isNew: false, set: plan.storage.set, parent: stored.parent)
    }

    // MARK: Checking

    /// Checks `If-Match` and `If-None-Match` (OData Protocol 4.01, 8.2.4 and 8.2.5). Weak and strong ETags with the
    /// same text are equal, because conditions refer to rows and not to bytes.
    ///
    /// - Throws: 412 if a condition is false, 428 if the set requires a condition and the request has none.
    package func checkPrecondition(_ request: ODataRequest, etag: String?, of set: String, resource: String) throws {
        try requireCondition(request, etag: etag, of: set, resource: resource)
        if let wanted = request.ifMatch, !Self.matches(wanted, etag) {
            throw ODataError.preconditionFailed(resource)
        }
        if let unwanted = request.ifNoneMatch, Self.matches(unwanted, etag) {
            throw ODataError.preconditionFailed(resource, ifNoneMatch: unwanted)
        }
    }

    /// Checks that a request to change a row has a condition if the set requires one (OData Protocol 4.01,
    /// 11.4.1.1).
    ///
    /// - Throws: 428.
    package func requireCondition(_ request: ODataRequest, etag: String?, of set: String, resource: String) throws {
        guard rules.guardedSets.contains(set), etag != nil, request.ifMatch == nil, request.ifNoneMatch == nil else {
            return
        }
        throw ODataError(
            status: 428, code: "PreconditionRequired",
            message:
                "\(resource) is changed only by requests that state its ETag. Read it, and send the ETag in If-Match.",
            target: resource)
    }

    /// Returns whether a list contains an ETag, or is `*`.
    package static func matches(_ list: String, _ etag: String?) -> Bool {
        func bare(_ text: some StringProtocol) -> String {
            let text = text.trimmingCharacters(in: .whitespaces)
            return text.hasPrefix("W/") ? String(text.dropFirst(2)) : text
        }
        if list.trimmingCharacters(in: .whitespaces) == "*" { return true }
        guard let etag else { return false }
        // An ETag may contain a comma, so that the whole text is compared first.
        return bare(list) == bare(etag) || list.split(separator: ",").contains { bare($0) == bare(etag) }
    }

    /// Returns 404, or 412 if the request has a condition on the missing resource.
    func missing(_ resource: String, _ request: ODataRequest) -> ODataError { .missing(resource, request) }

    /// Returns the same error for a key of a set.
    func missing(_ set: String, _ key: EntityKey?, request: ODataRequest) -> ODataError {
        missing(plans[set].map { name(set, key, plan: $0) } ?? set, request)
    }

    func name(_ set: String, _ key: EntityKey?, plan: WritePlan) -> String {
        EntityID.canonical(set: set, key: key, shape: plan.storage.shape, model: mapping.model)
    }

    /// Returns whether an insert may specify its key, because no part of it is computed.
    func keyIsGivenByClient(_ plan: WritePlan) -> Bool {
        plan.storage.shape.key.allSatisfy { plan.storage.shape.property($0.path)?.isComputed != true }
    }

    /// Removes values that clients must not specify.
    func removeComputed(from entity: inout ODataEntity) {
        let keys = Set(entity.shape.key.map(\.path))
        for (ordinal, property) in entity.shape.properties.enumerated() {
            // A key property that a create must not contain is generated by the service.
            if property.isComputed || keys.contains(property.name) && !property.isCreatable {
                entity.values[ordinal] = nil
            } else if case .complex(var nested)? = entity.values[ordinal] {
                removeComputed(from: &nested)
                entity.values[ordinal] = .complex(nested)
            }
        }
    }

    /// Adds values that an insert omits: default values of the model and empty collections.
    func complete(_ entity: inout ODataEntity, plan: WritePlan) throws {
        guard mapping.model.isType(entity.shape.name, plan.storage.shape.name), !entity.shape.isAbstract else {
            throw ODataError(
                status: 400, code: "InvalidType",
                message: "\(plan.storage.set) holds \(plan.storage.shape), not \(entity.shape).")
        }
        let storages = plan.storage.properties(of: entity.shape)
        for (ordinal, property) in entity.shape.properties.enumerated() {
            guard entity.values[ordinal] == nil else { continue }
            if property.type.isCollection {
                entity.values[ordinal] = .collection([])
            } else if case .column(let column)? = storages.dropFirst(ordinal).first, column.isGenerated {
                continue
            } else if let value = defaultValue(property) {
                entity.values[ordinal] = value
            }
        }
    }

    /// Returns the default value of a property in the model.
    func defaultValue(_ property: Property) -> ODataValue? {
        guard let text = property.defaultValue else { return nil }
        if case .enumeration(let name) = property.type, let type = mapping.model.enumType(name) {
            return type.value(of: text).map { .enumeration($0) }
        }
        return property.type.primitive.flatMap { try? ODataValue(lexical: text, type: $0) }
    }

    /// The code of the error for an insert without a mandatory value.
    static let missingValue = "MissingValue"

    /// Checks all values of a new entity, including that no mandatory value is missing.
    func checkInsert(_ entity: ODataEntity, plan: WritePlan) throws {
        let storages = plan.storage.properties(of: entity.shape)
        for (ordinal, property) in entity.shape.properties.enumerated() {
            if let value = entity.values[ordinal] {
                try check.check(value, for: property, path: property.name)
                continue
            }
            guard !property.isNullable, !property.isComputed, !property.hasComputedDefault else { continue }
            guard case .column(let column)? = storages.dropFirst(ordinal).first, !column.isGenerated else { continue }
            throw ODataError(
                status: 400, code: Self.missingValue, message: "\(property.name) must have a value.",
                target: property.name)
        }
        try checkDynamic(entity)
    }

    /// Checks the values of an update.
    func checkGiven(_ entity: ODataEntity) throws {
        for (ordinal, property) in entity.shape.properties.enumerated() {
            guard let value = entity.values[ordinal] else { continue }
            try check.check(value, for: property, path: property.name)
        }
        try checkDynamic(entity)
    }

    private func checkDynamic(_ entity: ODataEntity) throws {
        guard !entity.shape.isOpen, let name = entity.dynamicProperties.keys.min() else { return }
        throw ODataError(
            status: 400, code: "UnknownProperty", message: "\(entity.shape) has no property \(name).", target: name)
    }

    /// Returns the changes of an update to a row: only the given values or, for a replacement, all values that can
    /// be changed.
    func changes(of entity: ODataEntity, to before: ODataEntity, _ extent: Extent, plan: WritePlan) throws
        -> ODataEntity
    {
        let replaces = extent == .replacing
        var patch = ODataEntity(shape: before.shape)
        let given = Self.given(entity)
        let keyPaths = Set(before.shape.key.map(\.path))
        for (ordinal, property) in before.shape.properties.enumerated() where !keyPaths.contains(property.name) {
            if property.isComputed || rules.reserved[plan.storage.set]?.contains(property.name) == true { continue }
            var value = given.contains(property.name) ? entity[property.name] : nil
            if property.isImmutable {
                // The vocabulary requires services to ignore the value. For local changes, an error is more useful.
                if rules.ignoresImmutable { continue }
                if let value, let kept = before.values[ordinal], !value.isIdentical(to: kept) {
                    throw ODataError(
                        status: 400, code: "ImmutableProperty", message: "\(property.name) cannot be changed.",
                        target: property.name)
                }
                continue
            }
            let node = plan.nodes(of: before.shape)?.dropFirst(ordinal).first
            if let given = value {
                value =
                    switch extent {
                    case .replacing: completed(given)
                    case .merging(let levels): merged(given, into: before.values[ordinal], node, levels: levels)
                    }
                value = try value.map {
                    try unchanged($0, before.values[ordinal], keyPaths: keyPaths, at: property.name)
                }
            }
            if value == nil, replaces, node?.isStored == true {
                value = defaultValue(property)
                // Only the database knows a default value that is an expression, and applies it only to new rows.
                if value == nil, node?.isGenerated(in: plan) == true { continue }
                value = value ?? (property.type.isCollection ? .collection([]) : .null)
            }
            patch.values[ordinal] = value
        }
        let names = entity.dynamicProperties.keys.filter { before.shape.ordinal(of: $0) == nil }
        if !replaces { patch.dynamicProperties = before.dynamicProperties }
        // A dynamic property with the value null does not exist (OData CSDL 4.01, 6.3).
        for name in names {
            if let value = entity.dynamicProperties[name], !value.isNull {
                patch.dynamicProperties[name] =
                    if case .merging(let levels) = extent {
                        merged(value, into: before.dynamicProperties[name], levels: levels)
                    } else {
                        value
                    }
            } else {
                patch.dynamicProperties.removeValue(forKey: name)
            }
        }
        return patch
    }

    /// Returns a value in which the properties that no update changes have their previous values: key properties,
    /// and computed and immutable properties within complex values.
    ///
    /// - Parameter path: the path of the value.
    /// - Throws: 400 if a local change contains another value of an immutable property.
    private func unchanged(
        _ value: ODataValue, _ before: ODataValue?, keyPaths: Set<String>, at path: String
    ) throws -> ODataValue {
        guard case .complex(let old)? = before else { return value }
        guard case .complex(var entity) = value else {
            return keyPaths.contains { $0.hasPrefix("\(path)/") } ? .complex(old) : value
        }
        for (ordinal, property) in entity.shape.properties.enumerated() {
            guard let given = entity.values[ordinal] else { continue }
            let (place, kept) = ("\(path)/\(property.name)", old[property.name])
            if property.isComputed || keyPaths.contains(place) || (property.isImmutable && rules.ignoresImmutable) {
                entity.values[ordinal] = kept
            } else if property.isImmutable, let kept, !given.isIdentical(to: kept) {
                throw ODataError(
                    status: 400, code: "ImmutableProperty", message: "\(place) cannot be changed.", target: place)
            } else {
                entity.values[ordinal] = try unchanged(given, kept, keyPaths: keyPaths, at: place)
            }
        }
        return .complex(entity)
    }

    /// Returns a complex value in which omitted properties have their default values or null, because PUT replaces
    /// the whole value (11.4.3).
    func completed(_ value: ODataValue) -> ODataValue {
        guard case .complex(var entity) = value else { return value }
        for (ordinal, property) in entity.shape.properties.enumerated() {
            if let nested = entity.values[ordinal] {
                entity.values[ordinal] = completed(nested)
            } else {
                entity.values[ordinal] =
                    defaultValue(property) ?? (property.type.isCollection ? .collection([]) : .null)
            }
        }
        return .complex(entity)
    }

    /// Returns a complex value with omitted properties taken from the previous value, including nested complex
    /// values, because PATCH merges recursively (11.4.3).
    ///
    /// - Parameters:
    ///   - node: the storage of the property; `nil` within a JSON column.
    ///   - levels: the number of levels of complex values to merge.
    private func merged(
        _ value: ODataValue, into before: ODataValue?, _ node: WritePlan.Node? = nil, levels: Int
    ) -> ODataValue {
        guard levels > 0, case .complex(var entity) = value, case .complex(let old)? = before else { return value }
        if case .complex(_, _, let nodes)? = node {
            // The value has columns of its own, and columns of omitted properties are not changed.
            for (ordinal, node) in nodes.enumerated() {
                let kept = old.values[ordinal]
                entity.values[ordinal] = entity.values[ordinal].map { merged($0, into: kept, node, levels: levels - 1) }
            }
            return .complex(entity)
        }
        if entity.shape.name != old.shape.name, mapping.model.isType(old.shape.name, entity.shape.name) {
            // The previous value has a derived type, which remains.
            var derived = ODataEntity(shape: old.shape)
            for (property, value) in zip(entity.shape.properties, entity.values) where value != nil {
                derived[property.name] = value
            }
            derived.dynamicProperties = entity.dynamicProperties
            entity = derived
        }
        for (ordinal, property) in entity.shape.properties.enumerated() {
            let kept = old[property.name]
            entity.values[ordinal] = entity.values[ordinal].map { merged($0, into: kept, levels: levels - 1) } ?? kept
        }
        for (name, kept) in old.dynamicProperties where entity.shape.ordinal(of: name) == nil {
            let given = entity.dynamicProperties[name]
            entity.dynamicProperties[name] = given.map { merged($0, into: kept, levels: levels - 1) } ?? kept
        }
        entity.dynamicProperties = entity.dynamicProperties.filter { !$0.value.isNull }
        return .complex(entity)
    }

    /// Returns the names of the properties in an entity: those set since it was read or, if there are none, all
    /// loaded properties.
    package static func given(_ entity: ODataEntity) -> Set<String> {
        entity.changedProperties.isEmpty ? loaded(entity) : entity.changedProperties
    }

    /// Returns the names of all loaded properties of an entity.
    static func loaded(_ entity: ODataEntity) -> Set<String> {
        var names = Set(entity.dynamicProperties.keys)
        for (ordinal, property) in entity.shape.properties.enumerated() where entity.values[ordinal] != nil {
            names.insert(property.name)
        }
        return names
    }

    // MARK: Errors

    /// Encodes an entity. A value that does not fit its column is a 400.
    func encode(_ entity: ODataEntity, plan: WritePlan, into row: inout [DatabaseValue?]) throws {
        do throws(StoredValueError) {
            try plan.encode(entity, into: &row)
        } catch {
            let target = plan.path(ofColumn: error.column) ?? error.column
            throw ODataError(
                status: 400, code: "InvalidValue", message: "\(target) is \(error.found), not \(error.expected).",
                target: target)
        }
    }

    /// Runs a statement and converts constraint violations to OData errors.
    func translating(_ plan: WritePlan, row: [DatabaseValue?], in database: Database, body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError {
            let refusal = ConstraintRefusal(plan: plan, mapping: mapping)
            throw refusal.refusal(error, values: row, in: database) ?? error
        }
    }
}

extension WritePlan.Node {
    /// Whether the table stores the property.
    var isStored: Bool {
        if case .absent = self { false } else { true }
    }

    /// Returns whether the database generates the value of the property if an insert omits it.
    func isGenerated(in plan: WritePlan) -> Bool {
        if case .slot(let index) = self { plan.slots[index].column?.isGenerated == true } else { false }
    }
}

extension ODataError {
    /// Returns the error for a missing resource that a request would change: 412 if the request names an ETag, else 404.
    package static func missing(_ resource: String, _ request: ODataRequest) -> ODataError {
        request.ifMatch == nil ? .notFound(resource) : .preconditionFailed(resource, .missing)
    }
}
