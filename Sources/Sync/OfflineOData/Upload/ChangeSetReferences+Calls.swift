import ODataQuery
import ODataService

extension ChangeSetReferences {
    /// Names what an action is bound to by its content id, where that is created here: in the URL. In parameters no
    /// content id can stand.
    ///
    /// - Returns: ``Mention/apart`` where the call needs another key that only the service will give.
    func bind(_ message: inout ODataRequest, _ request: QueuedRequest) -> Mention {
        let segments = message.url.path.segments
        var named: Set<String> = []
        // The longest address counts: what contains an entity needs no key of its own then.
        for end in segments.indices {
            let address = ODataURL(path: ResourcePath(Array(segments[...end]))).description
            guard let creation = created.first(where: { $0.request.entityText == address }) else { continue }
            let reference = PathSegment.name(Identifier("$\(creation.id)"), .none)
            message.url.path.segments = [reference] + segments.dropFirst(end + 1)
            named.insert(creation.id)
        }
        let needsOthers = created.contains {
            !$0.isKeyKnown && !named.contains($0.id) && request.dependsOn.contains($0.request.id)
        }
        return needsOthers ? .apart : .inPath
    }
}
