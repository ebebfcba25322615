import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A pending relation without a foreign key")
struct WaitingRelationTests {
    /// Returns a store of albums with tags. The service refuses changes of relations while a flag is set.
    private func clone(
        _ studio: Studio, expanding relation: String = "Tags", refusing flag: LockedFlag = LockedFlag()
    ) async throws -> OfflineStore {
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                let error = ODataError(status: 403, code: "No", message: "No.")
                if flag.isSet, case .batch(let items) = request.body {
                    return ODataResponse(body: .batch(items.map { BatchResult(id: $0.id, result: .failure(error)) }))
                }
                guard flag.isSet, request.url.path.segments.last == .reference else { return nil }
                throw error
            })
        return try await studio.clone(
            [try DefiningQuery("albums", "Albums?$expand=\(relation)"), DefiningQuery(entitySet: "Tags")],
            through: service)
    }

    private func names(_ provider: any ODataProvider, _ relation: String) async throws -> [ODataValue?] {
        try await provider.rows("\(relation)?$orderby=ID").map { $0["Name"] }
    }

    // MARK: Downloads

    @Test("is visible on top of a download, from both ends")
    func partnerSide() async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        try await store.link("Tags(3)/Albums", to: "Albums(2)")
        try await store.unlink("Tags(1)/Albums", from: "Albums(1)")
        for album in 1...2 { try await studio.service.update("Albums(\(album))", ["Name": "Theirs"]) }
        try await store.download()
        #expect(try await names(store, "Albums(2)/Tags") == ["green"])
        #expect(try await names(store, "Albums(1)/Tags") == ["blue"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await names(studio.service, "Albums(2)/Tags") == ["green"])
        #expect(try await names(studio.service, "Albums(1)/Tags") == ["blue"])
    }

    @Test(
        "Rule 12: keeps its entities when they leave their query, until it is sent",
        arguments: [("Albums(2)", "Winter"), ("Tags(3)", "green")])
    func leavingFilter(entity: String, name: String) async throws {
        let studio = try await Studio()
        let set = String(entity.prefix { $0 != "(" })
        let store = try await studio.clone(
            ["Albums", "Tags"].map {
                try DefiningQuery($0, $0 == set ? "\(set)?$filter=Name eq '\(name)'" : $0)
            })
        try await store.link("Albums(2)/Tags", to: "Tags(3)")
        try await studio.service.update(entity, ["Name": "other"])
        for _ in 1...2 { try await store.download() }
        #expect(try await store.rows(entity).map { $0["Name"] } == [.string(name)])
        #expect(try await store.observe.status().pending.map(\.kind) == [.link])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        let tag: ODataValue = set == "Tags" ? "other" : "green"
        #expect(try await names(studio.service, "Albums(2)/Tags") == [tag])
        try await store.download()
        #expect(try await store.rows(set).isEmpty, "nobody holds it any more")
    }

    @Test(
        "is added and removed with the version of its source if the service requires it",
        arguments: [true, false])
    func requiredETag(isTogether: Bool) async throws {
        let studio = try await Studio()
        let error = ODataError(status: 428, code: "PreconditionRequired", message: "Say which version.")
        let isUnguarded: @Sendable (ODataRequest) -> Bool = {
            $0.url.path.segments.last == .reference && $0.ifMatch == nil
        }
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                if case .batch(let items) = request.body, items.contains(where: { isUnguarded($0.request) }) {
                    return ODataResponse(body: .batch(items.map { BatchResult(id: $0.id, result: .failure(error)) }))
                }
                if isUnguarded(request) { throw error }
                return nil
            })
        let store = try await studio.clone(
            [try DefiningQuery("albums", "Albums?$expand=Tags"), DefiningQuery(entitySet: "Tags")], through: service)
        if isTogether {
            try await store.changes.transaction { changes in
                for tag in ["Tags(1)", "Tags(3)"] {
                    try changes.perform(
                        ODataRequest(.create, try ODataURL(parsing: "Albums(2)/Tags/$ref"), body: .reference(tag)))
                }
            }
        } else {
            for tag in ["Tags(1)", "Tags(3)"] { try await store.link("Albums(2)/Tags", to: tag) }
            try await store.unlink("Albums(1)/Tags", from: "Tags(1)")
        }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await names(studio.service, "Albums(2)/Tags") == ["red", "green"])
        #expect(try await names(studio.service, "Albums(1)/Tags") == (isTogether ? ["red", "blue"] : ["blue"]))
    }

    // MARK: Undo

    @Test("is a change of both entities that can be undone from either", arguments: ["Albums(2)", "Tags(3)"])
    func undone(entity: String) async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        try await store.link("Albums(2)/Tags", to: "Tags(3)")
        #expect(try await store.changes.undo([ODataURL(parsing: entity)]) == 1)
        #expect(try await names(store, "Albums(2)/Tags") == [])
        #expect(try await store.rows(entity).count == 1, "it was not made here")
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("stays when the only other change of its entity is cancelled")
    func cancelledBesides() async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        try await store.link("Albums(2)/Tags", to: "Tags(3)")
        try await store.update("Albums(2)", ["Name": "Mine"])
        let update = try #require(try await store.observe.status().pending.last)
        try await store.changes.cancel([update.id])
        #expect(try await store.rows("Albums(2)").first?["Name"] == "Winter")
        #expect(try await names(store, "Albums(2)/Tags") == ["green"])
        #expect(try await store.observe.status().pending.map(\.kind) == [.link])
    }

    // MARK: Correcting refused changes

    @Test(
        "is not sent if the opposite change is made before, from either end",
        arguments: [true, false], [true, false])
    func opposite(isRefused: Bool, isFromOtherEnd: Bool) async throws {
        let studio = try await Studio()
        let isRefusing = LockedFlag()
        let store = try await clone(studio, refusing: isRefusing)
        try await store.link("Albums(2)/Tags", to: "Tags(3)")
        try await store.unlink("Albums(1)/Tags", from: "Tags(1)")
        if isRefused {
            isRefusing.set()
            #expect(try await store.upload().failed.map(\.kind) == [.link, .unlink])
            isRefusing.clear()
        }
        if isFromOtherEnd {
            try await store.unlink("Tags(3)/Albums", from: "Albums(2)")
            try await store.link("Tags(1)/Albums", to: "Albums(1)")
        } else {
            try await store.unlink("Albums(2)/Tags", from: "Tags(3)")
            try await store.link("Albums(1)/Tags", to: "Tags(1)")
        }
        let status = try await store.observe.status()
        #expect(status.pending.map(\.description) == [] && status.failed.map(\.description) == [])
        await studio.wire.mend()
        try await store.upload()
        #expect(await studio.wire.requests.isEmpty)
        let ends: [any ODataProvider] = [store, studio.service]
        for end in ends {
            #expect(try await names(end, "Albums(2)/Tags") == [])
            #expect(try await names(end, "Albums(1)/Tags") == ["red", "blue"])
        }
    }

    @Test("is repaired by requesting it again, with the options of both requests")
    func again() async throws {
        let studio = try await Studio()
        let isRefusing = LockedFlag()
        let store = try await clone(studio, refusing: isRefusing)
        try await store.changes.provider(with: ChangeOptions(tag: "a")).link("Albums(2)/Tags", to: "Tags(3)")
        isRefusing.set()
        #expect(try await store.upload().failed.count == 1)
        isRefusing.clear()
        try await store.changes.provider(with: ChangeOptions(tag: "b")).link("Albums(2)/Tags", to: "Tags(3)")
        #expect(try await store.upload().accepted.map(\.options.tag) == ["a#b"])
        #expect(try await names(studio.service, "Albums(2)/Tags") == ["green"])
    }

    @Test("is not repaired by an unmodifiable request behind it")
    func unmodifiable() async throws {
        let studio = try await Studio()
        let isRefusing = LockedFlag()
        let store = try await clone(studio, refusing: isRefusing)
        try await store.link("Albums(2)/Tags", to: "Tags(3)")
        isRefusing.set()
        #expect(try await store.upload().failed.count == 1)
        isRefusing.clear()
        try await store.changes.provider(with: ChangeOptions(isUnmodifiable: true)).unlink(
            "Albums(2)/Tags", from: "Tags(3)")
        #expect(try await store.upload().waiting.map(\.kind) == [.unlink])
        #expect(try await store.observe.status().failed.map(\.kind) == [.link])
    }

    @Test("refused with its change set does not block the rest after an undo")
    func transaction() async throws {
        let studio = try await Studio()
        let isRefusing = LockedFlag()
        let store = try await clone(studio, refusing: isRefusing)
        try await store.changes.transaction { changes in
            try changes.update("Albums(2)", ["Name": "Mine"])
            try changes.perform(
                ODataRequest(.create, try ODataURL(parsing: "Albums(2)/Tags/$ref"), body: .reference("Tags(3)")))
        }
        isRefusing.set()
        #expect(try await store.upload().failed.map(\.kind) == [.update, .link])
        isRefusing.clear()
        try await store.unlink("Albums(2)/Tags", from: "Tags(3)")
        #expect(try await names(store, "Albums(2)/Tags") == [])
        #expect(try await store.upload().accepted.map(\.kind) == [.update])
        #expect(try await studio.service.rows("Albums(2)").first?["Name"] == "Mine")
        #expect(try await names(studio.service, "Albums(2)/Tags") == [])
        try await store.download()
        #expect(try await names(store, "Albums(2)/Tags") == [])
    }

    @Test("with a single target is repaired by another target")
    func other() async throws {
        let studio = try await Studio(Self.withMotto)
        let isRefusing = LockedFlag()
        let store = try await clone(studio, refusing: isRefusing)
        try await setMotto(of: 1, to: 1, in: store)
        isRefusing.set()
        #expect(try await store.upload().failed.map(\.kind) == [.link])
        isRefusing.clear()
        try await setMotto(of: 1, to: 2, in: store)
        #expect(try await store.rows("Albums(1)/Motto").map { $0["Name"] } == ["blue"])
        #expect(try await store.upload().accepted.map(\.kind) == [.link])
        #expect(try await studio.service.rows("Albums(1)/Motto").map { $0["Name"] } == ["blue"])
        #expect(try await store.observe.status().failed.isEmpty)
    }

    // MARK: Replaced relations

    /// Changes the metadata so that an album has one tag as its motto. Several albums may share a motto.
    private static func withMotto(_ metadata: String) -> String {
        let pictures = #"<NavigationProperty Name="Pictures" Type="Collection(Studio.Picture)"/>"#
        let albums = #"<NavigationProperty Name="Albums" Type="Collection(Studio.Album)" Partner="Tags"/>"#
        let tagsBinding = #"<NavigationPropertyBinding Path="Tags" Target="Tags"/>"#
        let albumsBinding = #"<NavigationPropertyBinding Path="Albums" Target="Albums"/>"#
        let additions = [
            pictures: #"<NavigationProperty Name="Motto" Type="Studio.Tag" Partner="MottoOf"/>"#,
            albums: #"<NavigationProperty Name="MottoOf" Type="Collection(Studio.Album)" Partner="Motto"/>"#,
            tagsBinding: #"<NavigationPropertyBinding Path="Motto" Target="Tags"/>"#,
            albumsBinding: #"<NavigationPropertyBinding Path="MottoOf" Target="Albums"/>"#,
        ]
        return additions.reduce(metadata) { $0.replacingOccurrences(of: $1.key, with: $1.key + $1.value) }
    }

    /// Returns a service in which the first album has the first tag as its motto.
    private func studioWithMotto() async throws -> Studio {
        let studio = try await Studio(Self.withMotto)
        try await setMotto(of: 1, to: 1, in: studio.service)
        return studio
    }

    private func setMotto(of album: Int, to tag: Int, in provider: any ODataProvider) async throws {
        let url = try ODataURL(parsing: "Albums(\(album))/Motto/$ref")
        _ = try await provider.execute(ODataRequest(.replace, url, body: .reference("Tags(\(tag))")))
    }

    /// Returns all relations between albums and mottoes, such as `1:2`.
    private func mottoes(_ provider: any ODataProvider) async throws -> [String] {
        func number(_ entity: ODataEntity) -> String {
            if case .integer(let number)? = entity["ID"] { "\(number)" } else { "?" }
        }
        return try await provider.rows("Tags?$orderby=ID&$expand=MottoOf($orderby=ID)").flatMap { tag -> [String] in
            guard case .many(let albums, _, _)? = tag.related["MottoOf"] else { return [] }
            return albums.map { "\(number($0)):\(number(tag))" }
        }
    }

    /// The way in which the motto of an album is replaced.
    enum Way: CaseIterable, Sendable {
        case put, bind, otherEnd
    }

    /// Replaces the motto of the first album by the second tag.
    private func replaceMotto(in store: OfflineStore, by way: Way) async throws {
        switch way {
        case .put: try await setMotto(of: 1, to: 2, in: store)
        case .bind:
            var patch = ODataEntity(shape: try #require(store.model.shape(ofSet: "Albums")))
            patch.related["Motto"] = .references(["Tags(2)"])
            _ = try await store.execute(ODataRequest(.update, try ODataURL(parsing: "Albums(1)"), body: .entity(patch)))
        case .otherEnd: try await store.link("Tags(2)/MottoOf", to: "Albums(1)")
        }
    }

    @Test("that replaces another one is visible alone and sent as one request", arguments: Way.allCases)
    func replaced(way: Way) async throws {
        let studio = try await studioWithMotto()
        let store = try await clone(studio, expanding: "Motto")
        #expect(try await mottoes(store) == ["1:1"])
        try await replaceMotto(in: store, by: way)
        #expect(try await mottoes(store) == ["1:2"])
        #expect(try await store.upload().accepted.map(\.kind) == [.link])
        #expect(try await mottoes(studio.service) == ["1:2"])
        try await store.download()
        #expect(try await mottoes(store) == ["1:2"])
    }

    @Test("that replaces another one restores it when it is undone", arguments: Way.allCases, [true, false])
    func replacedAndTakenBack(way: Way, isCancelled: Bool) async throws {
        let studio = try await studioWithMotto()
        let store = try await clone(studio, expanding: "Motto")
        try await replaceMotto(in: store, by: way)
        if isCancelled {
            try await store.changes.cancel(try await store.observe.status().pending.map(\.id))
        } else {
            try await store.changes.undo([ODataURL(parsing: "Albums(1)")])
        }
        #expect(try await mottoes(store) == ["1:1"])
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test(
        "that replaces another one stays on top of a download",
        arguments: Way.allCases, [1, 3])
    func replacedAndDownloaded(way: Way, theirs: Int) async throws {
        let studio = try await studioWithMotto()
        let store = try await clone(studio, expanding: "Motto")
        try await replaceMotto(in: store, by: way)
        try await setMotto(of: 1, to: theirs, in: studio.service)
        try await studio.service.update("Albums(1)", ["Name": "Theirs"])
        for _ in 1...2 { try await store.download() }
        #expect(try await store.rows("Albums(1)").first?["Name"] == "Theirs")
        #expect(try await mottoes(store) == ["1:2"])
        try await store.changes.undo([ODataURL(parsing: "Albums(1)")])
        #expect(try await mottoes(store) == ["1:\(theirs)"])
    }

    /// Returns a store in which the motto of an album was replaced, while the service has got a third motto.
    private func contested(
        isRemoved: Bool, isDownloaded: Bool, isTogether: Bool = false
    ) async throws -> (Studio, OfflineStore) {
        let studio = try await studioWithMotto()
        let store = try await clone(studio, expanding: "Motto")
        let url = try ODataURL(parsing: "Albums(1)/Motto/$ref")
        let request =
            isRemoved ? ODataRequest(.delete, url) : ODataRequest(.replace, url, body: .reference("Tags(2)"))
        if isTogether {
            try await store.changes.transaction { changes in
                try changes.perform(request)
                try changes.update("Albums(2)", ["Name": "Mine"])
            }
        } else {
            _ = try await store.execute(request)
        }
        try await setMotto(of: 1, to: 3, in: studio.service)
        if isDownloaded {
            try await studio.service.update("Albums(1)", ["Name": "Theirs"])
            try await store.download()
        }
        return (studio, store)
    }

    @Test(
        "Rule 8: that replaces or removes another one does not overwrite a newer one",
        arguments: [true, false], [true, false])
    func replacedByOthers(isRemoved: Bool, isTogether: Bool) async throws {
        for isDownloaded in [true, false] {
            let (studio, store) = try await contested(
                isRemoved: isRemoved, isDownloaded: isDownloaded, isTogether: isTogether)
            let report = try await store.upload()
            #expect(report.accepted.map(\.description) == [])
            #expect(report.failed.first?.failure?.conflict == .changed)
            #expect(try await mottoes(studio.service) == ["1:3"])
            // A retry confirms that the user has seen the conflict.
            try await store.changes.retry()
            #expect(try await store.upload().failed.map { $0.failure?.message } == [])
            #expect(try await mottoes(studio.service) == (isRemoved ? [] : ["1:2"]))
        }
    }

    @Test("Rule 8: that replaces a newer one of others meets the policy", arguments: [true, false])
    func replacedByOthersPolicy(isTogether: Bool) async throws {
        var (studio, store) = try await contested(isRemoved: false, isDownloaded: false, isTogether: isTogether)
        var report = try await store.upload(options: UploadOptions(conflictPolicy: .clientWins))
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await mottoes(studio.service) == ["1:2"])
        (studio, store) = try await contested(isRemoved: false, isDownloaded: true, isTogether: isTogether)
        report = try await store.upload(options: UploadOptions(conflictPolicy: .serverWins))
        #expect(report.givenUp.map(\.kind) == (isTogether ? [.link, .update] : [.link]))
        #expect(try await mottoes(studio.service) == ["1:3"])
        #expect(try await mottoes(store) == ["1:3"])
        #expect(try await store.observe.status().pending.isEmpty)
    }

    /// Returns a store in which the motto of an album was replaced; the change is pending or refused.
    private func replacement(isRefused: Bool) async throws -> (Studio, OfflineStore) {
        let isRefusing = LockedFlag()
        let studio = try await studioWithMotto()
        let store = try await clone(studio, expanding: "Motto", refusing: isRefusing)
        try await setMotto(of: 1, to: 2, in: store)
        if isRefused {
            isRefusing.set()
            #expect(try await store.upload().failed.map(\.kind) == [.link])
            isRefusing.clear()
        }
        return (studio, store)
    }

    @Test(
        "that replaces an unsent or refused one restores the relation of the service",
        arguments: [true, false])
    func replacedAgain(isRefused: Bool) async throws {
        let (studio, store) = try await replacement(isRefused: isRefused)
        try await setMotto(of: 1, to: 3, in: store)
        #expect(try await mottoes(store) == ["1:3"])
        let status = try await store.observe.status()
        #expect(status.pending.map(\.kind) == [.link] && status.failed.isEmpty, "the last one alone is sent")
        try await store.changes.undo([ODataURL(parsing: "Albums(1)")])
        #expect(try await mottoes(store) == ["1:1"])
        #expect(try await mottoes(studio.service) == ["1:1"])
    }

    @Test("that is removed again also removes the service's relation", arguments: [true, false])
    func replacedAndRemoved(isRefused: Bool) async throws {
        let (studio, store) = try await replacement(isRefused: isRefused)
        _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: "Albums(1)/Motto/$ref")))
        #expect(try await mottoes(store) == [])
        #expect(try await store.upload().accepted.map(\.kind) == [.unlink])
        #expect(try await mottoes(studio.service) == [])
        #expect(try await store.observe.status().failed.isEmpty)
    }

    @Test("is removed with its target, and returns with it")
    func replacedByDeleted() async throws {
        let studio = try await studioWithMotto()
        let store = try await clone(studio, expanding: "Motto")
        try await setMotto(of: 1, to: 2, in: store)
        try await store.delete("Tags(2)")
        #expect(try await mottoes(store) == ["1:1"])
        try await store.changes.undo([ODataURL(parsing: "Tags(2)")])
        #expect(try await mottoes(store) == ["1:2"])
        #expect(try await store.observe.status().pending.map(\.kind) == [.link])
        try await store.changes.undo([ODataURL(parsing: "Albums(1)")])
        #expect(try await mottoes(store) == ["1:1"])
    }
}

extension ODataProvider {
    fileprivate func unlink(_ navigation: String, from target: String) async throws {
        var request = ODataRequest(.delete, try ODataURL(parsing: navigation + "/$ref"))
        request.url.options.id = target
        _ = try await execute(request)
    }
}
