import ODataModel
import ODataQuery

/// The common properties of the rows of a query.
struct ResultShape {
    /// The possible number of rows.
    enum Number {
        /// No row.
        case none
        /// One row.
        case one
        /// Any number of rows.
        case many
    }

    /// The possible number of rows.
    let number: Number
    /// The common shape of all rows; `nil` if there is none.
    let shape: TypeShape?
    /// The entity set of the rows.
    let set: EntitySet?

    init(_ bound: BoundURL) {
        switch bound.resource.target {
        case .entities(let declared, let set):
            (number, shape, self.set) = (.many, bound.query?.resultShape ?? declared, set)
        case .entity(let declared, let set):
            (number, shape, self.set) = (.one, bound.query?.resultShape ?? declared, set)
        case .crossJoin(_, let declared):
            (number, shape, set) = (.many, bound.query?.resultShape ?? declared, nil)
        case .all: (number, shape, set) = (.many, bound.query?.resultShape, nil)
        case .operation(let operation):
            let isCollection = operation.returnType?.isCollection ?? false
            let isOfEntities = if case .entity? = operation.returnType?.element { true } else { false }
            let isEntity = if case .entity? = operation.returnType { true } else { false }
            number = isCollection && isOfEntities ? .many : isEntity ? .one : .none
            (shape, set) = (bound.query?.resultShape, nil)
        default: (number, shape, set) = (.none, bound.query?.resultShape, nil)
        }
    }
}
