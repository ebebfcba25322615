import ODataModel
import ODataQuery

/// What the rows of a query have in common.
struct ResultShape {
    /// How many rows there can be.
    enum Number {
        /// The answer is no row.
        case none
        /// The answer is one.
        case one
        /// The answer is a collection.
        case many
    }

    /// How many rows there can be.
    let number: Number
    /// The shape that every row has, or derives from; `nil` where there is none.
    let shape: TypeShape?
    /// The entity set they are of.
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
