import ODataModel
import ODataQuery
import ODataService

/// Entities without a table that can be queried, such as a virtual entity set or the result of an operation.
package struct EntitiesInMemory: EvaluationSource {
    package let model: EntityDataModel
    package let now: ODataDateTimeOffset
    package private(set) var entities: [ODataEntity]
    /// The budget of the current request, and the CPU time of the thread at the creation of this value.
    private let budget = RequestBudget.current
    private let start = RequestBudget.threadTime

    package init(_ entities: [ODataEntity], model: EntityDataModel, now: ODataDateTimeOffset) {
        self.entities = entities
        self.model = model
        self.now = now
    }

    private var evaluator: Evaluator { Evaluator(model: model, source: self, now: now) }

    /// Throws, because only the entities themselves are available.
    package func rows(of set: String) throws -> [any EvaluationRow] {
        throw ODataError.notImplemented("$root/\(set) here")
    }

    /// Throws, because only the entities themselves are available.
    package func singleton(_ name: String) throws -> (any EvaluationRow)? {
        throw ODataError.notImplemented("$root/\(name) here")
    }

    /// Throws if the caller was cancelled or the time limit is exceeded.
    package func checkEvaluation() throws {
        guard let budget else { return }
        try budget.check()
        if let left = budget.timeLeft, RequestBudget.threadTime - start > left { throw budget.tooSlow }
    }

    /// The number of rows that fit into the memory of the request.
    package var maxRows: Int {
        min(Evaluator.maxJoinedRows, max(1000, (budget?.heldBytesLeft ?? .max) / Self.rowSize))
    }

    /// The approximate number of bytes of a row without its values.
    private static let rowSize = 512

    // MARK: Narrowing

    /// Removes the entities that do not satisfy a condition.
    package mutating func keep(_ condition: BoundExpression) throws {
        let evaluator = evaluator
        entities = try Self.translating {
            try entities.filter { try evaluator.evaluate(condition, on: $0) == .boolean(true) }
        }
    }

    /// Removes the entities of other types.
    package mutating func keep(_ shape: TypeShape) {
        entities = entities.filter { model.isType($0.shape.name, shape.name) }
    }

    /// Removes the entities with other keys.
    package mutating func keep(_ key: EntityKey) { entities = entities.filter { $0.key == key } }

    // MARK: Answering

    /// Returns the result of a query on the entities.
    package func page(_ query: BoundQuery) throws -> EntityPage {
        let answer = try Self.translating { try evaluator.evaluate(query, over: entities) }
        let known = Dictionary(
            entities.compactMap { entity in entity.key.map { ($0, entity) } }, uniquingKeysWith: { first, _ in first })
        return EntityPage(
            entities: answer.rows.map { entity($0, query.resultShape, known: known) },
            count: answer.count.map(Int64.init))
    }

    private func entity(_ row: EvaluatedRow, _ declared: TypeShape, known: [EntityKey: ODataEntity]) -> ODataEntity {
        let original = row.key.flatMap { known[$0] }
        // Values without a key may also be of a derived type.
        let derived = model.isType(row.typeName, declared.name) ? model.shape(row.typeName) : nil
        var entity = ODataEntity(shape: original?.shape ?? derived ?? declared)
        for property in row.properties { entity[property.name] = property.value }
        // The key is always present, regardless of `$select`.
        for part in entity.shape.key where entity[part.path] == nil {
            if let value = row.property(part.path) { entity[part.path] = value }
        }
        entity.control = original?.control ?? ControlInformation()
        for (name, page) in row.expanded {
            guard let navigation = entity.shape.navigationProperty(name), let shape = model.shape(navigation.target)
            else { continue }
            let related = page.rows.map { self.entity($0, shape, known: [:]) }
            entity.related[name] =
                navigation.isCollection
                ? .many(related, count: page.count.map(Int64.init))
                : related.first.map { .one($0) } ?? RelatedEntities.none
        }
        entity.markUnchanged()
        return entity
    }

    private static func translating<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as EvaluationError {
            throw ODataError(status: 400, code: "InvalidOperation", message: error.description)
        }
    }
}
