import ODataModel

/// The meaning of aliases at a place in a dynamic query.
final class SelectionScope {
    /// A source by its alias.
    struct Source {
        let alias: String
        let variable: RangeVariable
        /// The entity set; `nil` for the result of a query.
        let set: String?
        let shape: TypeShape
    }

    /// The row of a group, to which attributes and aggregates refer after grouping.
    struct Group {
        let variable: RangeVariable
        let shape: TypeShape
        let keys: [BoundExpression]
        let aggregates: [Aggregate]

        /// The property of the row at an ordinal, as a path.
        func property(_ ordinal: Int) -> BoundExpression {
            let property = shape.properties[ordinal]
            let step = BoundStep.property(property, ordinal: ordinal, of: shape)
            return .path(BoundPath(variable: variable, steps: [step], type: property.type))
        }
    }

    /// An aggregate of the query.
    struct Aggregate: Hashable {
        let method: QueryAggregate
        let attribute: QueryAttribute?
    }

    private(set) var sources: [Source] = []
    var group: Group?
    /// The scope of the enclosing query.
    let outer: SelectionScope?

    init(outer: SelectionScope?) { self.outer = outer }

    func add(_ source: Source) { sources.append(source) }

    func source(_ alias: String) -> Source? { sources.first { $0.alias.isIdentical(inUTF8To: alias) } }
}
