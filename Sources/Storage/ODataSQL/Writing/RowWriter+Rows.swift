import Foundation
import GRDB
import ODataModel
import ODataService

/// How a writer finds rows and what it checks before it changes them.
extension RowWriter {
    /// The plan of a set's table.
    package func plan(_ set: String) throws -> WritePlan {
        guard let plan = plans[set] else { throw ODataError.notImplemented(set) }
        return plan
    }

    /// The plan of a set's table when the set allows the change.
    package func writable(_ set: String, _ term: String, property: String, request: ODataRequest) throws -> WritePlan {
        let plan = try plan(set)
        guard !plan.storage.isReadOnly, rules.ignoresCapabilities || mapping.model.allows(term, property, on: set)
        else {
            throw ODataError.methodNotAllowed(request.method, allowed: allowedMethods(of: set, isEntity: true))
        }
        return plan
    }

    /// The methods that a set, or an entity of it, allows.
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

    /// The row with a key, or a singleton's only row; `nil` when it is not there or hidden.
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
                // A value that the column cannot hold is a key that nothing has; text ends at U+0000 where it is bound.
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
        // What SQLite takes for equal to a text, by affinity or collation, need not be the same key.
        if key == nil || !plan.hasTextKey,
            let row = try Row.fetchOne(statement, arguments: StatementArguments(arguments))
        {
            return plan.stored(row)
        }
        guard let key, plan.hasVariableKey || plan.hasTextKey else { return nil }
        return try findOtherwiseWritten(key, parent: parent, plan: plan, in: database)
    }

    /// The condition that addresses a row that was found: by row id, else by key.
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

    /// Reads a row again that was inserted: by its row id, or by the key that was written.
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
            // A trigger of a foreign database may have moved it on.
            throw ODataError(
                status: 409, code: "RowVanished", message: "The row of \(plan.storage.set) is gone after the change.")
        }
        return try written(plan.stored(row), plan: plan, in: database)
    }

    /// Refuses what the last statement was to do where the database has ignored it: neither ON CONFLICT IGNORE nor
    /// RAISE(IGNORE) is an error to SQLite.
    ///
    /// - Parameter found: the row that was to change or go; `nil` for one that was to be inserted.
    func checkIsDone(to found: WritePlan.Stored?, plan: WritePlan, in database: Database) throws {
        // What the triggers of a view do instead is not counted.
        guard database.changesCount == 0, try !database.viewExists(plan.storage.table) else { return }
        if let found {
            // A trigger may have done it in its own way before, such as by marking a row as deleted.
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

    /// The entity of a row with its id.
    func entity(_ stored: WritePlan.Stored, plan: WritePlan, in database: Database) throws -> ODataEntity {
        var entity = try plan.entity(stored)
        entity.control.id = try id(of: entity.key, stored, plan: plan, in: database)
        return entity
    }

    /// The canonical id of a row; that of a contained entity begins with that of the entity it is in.
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

    /// `If-Match` and `If-None-Match` (OData Protocol 4.01, 8.2.4 and 8.2.5). Weak and strong ETags with the
    /// same text are the same here: rows are compared, not bytes.
    ///
    /// - Throws: 412 if a condition does not hold, 428 if the set is guarded and the request states none.
    package func checkPrecondition(_ request: ODataRequest, etag: String?, of set: String, resource: String) throws {
        try requireCondition(request, etag: etag, of: set, resource: resource)
        if let wanted = request.ifMatch, !Self.matches(wanted, etag) {
            throw ODataError.preconditionFailed(resource)
        }
        if let unwanted = request.ifNoneMatch, Self.matches(unwanted, etag) {
            throw ODataError.preconditionFailed(resource, ifNoneMatch: unwanted)
        }
    }

    /// Requires that a request which changes a row of a guarded set states a condition (OData Protocol 4.01, 11.4.1.1).
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

    /// Whether an ETag is in a list, or the list is `*`.
    package static func matches(_ list: String, _ etag: String?) -> Bool {
        func bare(_ text: some StringProtocol) -> String {
            let text = text.trimmingCharacters(in: .whitespaces)
            return text.hasPrefix("W/") ? String(text.dropFirst(2)) : text
        }
        if list.trimmingCharacters(in: .whitespaces) == "*" { return true }
        guard let etag else { return false }
        // A comma may stand within an ETag, so that the whole text is tried before its parts.
        return bare(list) == bare(etag) || list.split(separator: ",").contains { bare($0) == bare(etag) }
    }

    /// 404, or 412 for a condition on something that is not there.
    func missing(_ resource: String, _ request: ODataRequest) -> ODataError {
        request.ifMatch == nil ? .notFound(resource) : .preconditionFailed(resource, .missing)
    }

    /// The same for a key of a set.
    func missing(_ set: String, _ key: EntityKey?, request: ODataRequest) -> ODataError {
        missing(plans[set].map { name(set, key, plan: $0) } ?? set, request)
    }

    func name(_ set: String, _ key: EntityKey?, plan: WritePlan) -> String {
        EntityID.canonical(set: set, key: key, shape: plan.storage.shape, model: mapping.model)
    }

    /// Whether an insert may name its key: no part is computed or generated.
    func keyIsGivenByClient(_ plan: WritePlan) -> Bool {
        plan.storage.shape.key.allSatisfy { plan.storage.shape.property($0.path)?.isComputed != true }
    }

    /// Takes out what the client may not give.
    func removeComputed(from entity: inout ODataEntity) {
        let keys = Set(entity.shape.key.map(\.path))
        for (ordinal, property) in entity.shape.properties.enumerated() {
            // A part of the key that no creation may give is the service's to give (rule 11).
            if property.isComputed || keys.contains(property.name) && !property.isCreatable {
                entity.values[ordinal] = nil
            } else if case .complex(var nested)? = entity.values[ordinal] {
                removeComputed(from: &nested)
                entity.values[ordinal] = .complex(nested)
            }
        }
    }

    /// Fills in what an insert leaves out: defaults of the model, empty collections.
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

    /// The default that the model states for a property.
    func defaultValue(_ property: Property) -> ODataValue? {
        guard let text = property.defaultValue else { return nil }
        if case .enumeration(let name) = property.type, let type = mapping.model.enumType(name) {
            return type.value(of: text).map { .enumeration($0) }
        }
        return property.type.primitive.flatMap { try? ODataValue(lexical: text, type: $0) }
    }

    /// The code of the refusal of an insert that leaves out what must have a value.
    static let missingValue = "MissingValue"

    /// Checks all values of an entity that is to be inserted, and that none is missing.
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

    /// Checks the values that an update gives.
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

    /// What an update changes of a row: only what it gives, or for a replacement everything that it may.
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
                // The vocabulary has services ignore it; whoever edits locally is told at once.
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
                // A default that is an expression is known to the database alone, and given to new rows only.
                if value == nil, node?.isGenerated(in: plan) == true { continue }
                value = value ?? (property.type.isCollection ? .collection([]) : .null)
            }
            patch.values[ordinal] = value
        }
        let names = entity.dynamicProperties.keys.filter { before.shape.ordinal(of: $0) == nil }
        if !replaces { patch.dynamicProperties = before.dynamicProperties }
        // A dynamic property that is null is one that is not there (OData CSDL 4.01, 6.3).
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

    /// A value with what no update changes as it was before: parts of the key, computed and immutable properties within
    /// complex values.
    ///
    /// - Parameter path: where it lies.
    /// - Throws: 400 where an immutable property is changed by who edits locally.
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

    /// A complex value with defaults, or null, for what it does not give: PUT replaces it as a whole (11.4.3).
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

    /// A complex value with what it does not give taken from the one before, and so the complex values in it: PATCH
    /// merges recursively (11.4.3).
    ///
    /// - Parameters:
    ///   - node: where the property lies; `nil` within the text of another one.
    ///   - levels: how many levels of complex values are merged.
    private func merged(
        _ value: ODataValue, into before: ODataValue?, _ node: WritePlan.Node? = nil, levels: Int
    ) -> ODataValue {
        guard levels > 0, case .complex(var entity) = value, case .complex(let old)? = before else { return value }
        if case .complex(_, _, let nodes)? = node {
            // It has columns of its own, of which those that it does not give are left alone.
            for (ordinal, node) in nodes.enumerated() {
                let kept = old.values[ordinal]
                entity.values[ordinal] = entity.values[ordinal].map { merged($0, into: kept, node, levels: levels - 1) }
            }
            return .complex(entity)
        }
        if entity.shape.name != old.shape.name, mapping.model.isType(old.shape.name, entity.shape.name) {
            // It is of a derived type, and stays so.
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

    /// The properties that an entity gives: those set since it was read, else all that are loaded.
    package static func given(_ entity: ODataEntity) -> Set<String> {
        if !entity.changedProperties.isEmpty { return entity.changedProperties }
        var names = Set(entity.dynamicProperties.keys)
        for (ordinal, property) in entity.shape.properties.enumerated() where entity.values[ordinal] != nil {
            names.insert(property.name)
        }
        return names
    }

    // MARK: Errors

    /// Encodes an entity; a value that does not fit its column is a 400.
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

    /// Runs a statement and turns broken constraints into OData errors.
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
    /// Whether the property has a place in the table.
    var isStored: Bool {
        if case .absent = self { false } else { true }
    }

    /// Whether the database gives the property its value where an insert leaves it out.
    func isGenerated(in plan: WritePlan) -> Bool {
        if case .slot(let index) = self { plan.slots[index].column?.isGenerated == true } else { false }
    }
}
