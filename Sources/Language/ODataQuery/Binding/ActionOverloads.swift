import ODataModel

extension ODataOperation {
    /// The parameters without the binding parameter.
    public var ownParameters: [Parameter] { Array(parameters.dropFirst(isBound ? 1 : 0)) }
}

extension EntityDataModel {
    /// Returns all actions with the name and binding type of an action. A path does not distinguish between them.
    public func overloads(of action: ODataOperation) -> [ODataOperation] {
        operations(action.name).filter {
            $0.kind == action.kind && $0.isBound == action.isBound
                && (!action.isBound || $0.parameters.first?.type == action.parameters.first?.type)
        }
    }

    /// Returns the overload of an action that takes the parameters in a body (OData Protocol 4.01, 11.5.5.2 *Action
    /// Overload Resolution*).
    ///
    /// An overload with exactly these parameters takes precedence over one whose missing parameters are optional.
    /// If there is neither, the action itself is returned.
    public func overload(of action: ODataOperation, taking names: Set<String>) -> ODataOperation {
        let candidates = overloads(of: action)
        return candidates.first { names == Set($0.ownParameters.map(\.name)) }
            ?? candidates.first { candidate in
                names.isSubset(of: candidate.ownParameters.map(\.name))
                    && candidate.ownParameters.allSatisfy { names.contains($0.name) || $0.mayBeLeftOut }
            } ?? action
    }
}
