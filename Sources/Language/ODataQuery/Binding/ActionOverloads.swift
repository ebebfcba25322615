import ODataModel

extension ODataOperation {
    /// The parameters without the binding parameter.
    public var ownParameters: [Parameter] { Array(parameters.dropFirst(isBound ? 1 : 0)) }
}

extension EntityDataModel {
    /// An action with all others of its name that are called on the same: the path does not tell them apart.
    public func overloads(of action: ODataOperation) -> [ODataOperation] {
        operations(action.name).filter {
            $0.kind == action.kind && $0.isBound == action.isBound
                && (!action.isBound || $0.parameters.first?.type == action.parameters.first?.type)
        }
    }

    /// The overload of an action that takes the parameters which a body gives: the one with exactly these, else one
    /// of which all others may be left out, else the action itself (OData Protocol 4.01, 11.5.5.2 *Action Overload
    /// Resolution*).
    public func overload(of action: ODataOperation, taking names: Set<String>) -> ODataOperation {
        let candidates = overloads(of: action)
        return candidates.first { names == Set($0.ownParameters.map(\.name)) }
            ?? candidates.first { candidate in
                names.isSubset(of: candidate.ownParameters.map(\.name))
                    && candidate.ownParameters.allSatisfy { names.contains($0.name) || $0.mayBeLeftOut }
            } ?? action
    }
}
