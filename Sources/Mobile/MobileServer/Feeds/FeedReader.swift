import Foundation
import ODataModel
import ODataQuery
import ODataService
import ServerState

/// Answers reads of feeds: full reads and deltas, page by page, with every check of the token protocol on every page
/// (`mobile-server.md` 5.3 and 5.4).
///
/// A read writes nothing: the position of a device is in its token alone.
struct FeedReader: Sendable {
    let state: any ServerState
    let keys: ServerKeys
    let refresher: FeedRefresher

    /// Returns the page that a request asks for.
    ///
    /// - Throws: ``ODataError``: 410 with its reason, 503 if the feed has no rows that are new enough.
    func answer(_ request: ODataRequest, _ definition: FeedDefinition) async throws -> ODataResponse {
        let text = request.url.feedToken
        let limit = min(request.preferences.maxPageSize ?? FeedPageRequest.rowLimit, FeedPageRequest.rowLimit)
        var token: FeedToken?
        if let text { token = try await checked(text, definition) }
        let feed = try await refresher.current(definition, isFirstPage: token?.kind != .fullNext)
        let incarnation = try await state.incarnation()
        if let token, token.kind != .delta, token.incarnation != UInt32(truncatingIfNeeded: incarnation.number) {
            throw DestinationFailure.gone("restarted", query: definition.name)
        }
        var response = try await page(
            Place(token), of: feed, definition: definition, limit: max(1, limit), incarnation: incarnation,
            request: request)
        if request.preferences.maxPageSize != nil { response.preferencesApplied.append("maxpagesize=\(limit)") }
        response.preferencesApplied.append("track-changes")
        return response
    }

    /// The place at which a page begins.
    private struct Place {
        /// Whether the page belongs to a delta.
        let isDelta: Bool
        let from: ChangeNumber
        /// The head up to which the read goes; `nil` on the first page.
        let to: ChangeNumber?
        let position: ChangeNumber
        let witness: FeedWitness?

        init(_ token: FeedToken?) {
            guard let token else {
                (isDelta, from, to, position, witness) = (false, 0, nil, 0, nil)
                return
            }
            isDelta = token.kind != .fullNext
            from = token.from
            to = token.kind == .delta ? nil : token.to
            position = token.position
            witness = token.witness
        }
    }

    /// Reads a token and checks everything that needs no snapshot.
    private func checked(_ text: String, _ definition: FeedDefinition) async throws -> FeedToken {
        let token: FeedToken
        do {
            token = try FeedToken(text, keys)
        } catch FeedToken.Refusal.syntax {
            throw ODataError(status: 400, code: "TokenInvalid", message: "The link is not one of this server.")
        } catch {
            throw DestinationFailure.gone("expired", query: definition.name)
        }
        guard token.feed == Array(definition.record.key.prefix(FeedToken.prefixSize)) else {
            throw DestinationFailure.gone("feed", query: definition.name)
        }
        guard token.subject.allSatisfy({ $0 == 0 }) else {
            throw DestinationFailure.gone("expired", query: definition.name)
        }
        guard token.expires > (try await state.now()) else {
            throw DestinationFailure.gone("expired", query: definition.name)
        }
        return token
    }

    private func page(
        _ place: Place, of feed: FeedRecord, definition: FeedDefinition, limit: Int, incarnation: Incarnation,
        request: ODataRequest
    ) async throws -> ODataResponse {
        let wanted = FeedPageRequest(
            feed: feed.id, kind: place.isDelta ? .delta(presentParts: [[]]) : .full, after: place.position,
            to: place.to ?? .max, witness: place.witness, limit: limit)
        guard let page = try await state.feeds.page(wanted) else {
            throw DestinationFailure.gone("feed", query: definition.name)
        }
        let now = page.feed
        guard now.key == definition.record.key else { throw DestinationFailure.gone("feed", query: definition.name) }
        // A delta needs all removals behind its position, in the snapshot of this page (`design-review.md` 5). The tags
        // below the floor went with the removals, so that this check is the first one.
        guard !place.isDelta || now.floor <= place.position else {
            throw DestinationFailure.gone("pruned", query: definition.name)
        }
        guard page.isWitnessKnown else { throw DestinationFailure.gone("fork", query: definition.name) }
        let to = min(place.to ?? now.head, now.head)
        let seen = FeedWitness(head: now.head, tag: now.tag)
        let rows = page.rows.filter { $0.seq <= to }
        let hasMore = page.hasMore && page.position < to
        let life = definition.configuration.tokenLifetime
        let expires = try await state.now() + (hasMore ? .seconds(86_400) : life)
        let next = FeedToken(
            hasMore ? (place.isDelta ? .deltaNext : .fullNext) : .delta, feed: now.key,
            configuration: now.configuration, from: hasMore ? place.from : to, to: to,
            position: hasMore ? page.position : to, witness: seen, expires: expires,
            incarnation: incarnation.number)
        var body = EntityPage()
        for row in rows {
            if let bytes = row.body {
                body.append(.entity(try definition.codec.entity(of: bytes)))
            } else {
                let reason = RemovedEntity.Reason(rawValue: (row.removal ?? .deleted).rawValue) ?? .deleted
                let id = String(decoding: row.key, as: UTF8.self)
                body.append(.removed(RemovedEntity(id: id, key: definition.codec.key(of: id), reason: reason)))
            }
        }
        let link = Self.link(
            request, next.text(keys), isDelta: place.isDelta || !hasMore, isV2: definition.dialect == "v2")
        if hasMore { body.nextLink = link } else { body.deltaLink = link }
        return ODataResponse(body: .page(body))
    }

    /// Returns a link to the query with a token.
    private static func link(_ request: ODataRequest, _ token: String, isDelta: Bool, isV2: Bool) -> String {
        var url = request.url
        url.options.skipToken = isDelta ? nil : token
        url.options.deltaToken = isDelta && !isV2 ? token : nil
        url.options.custom.removeAll { $0.name == ODataURL.deltaOption }
        if isDelta, isV2 { url.options.custom.append(.init(name: ODataURL.deltaOption, value: token)) }
        url.options.count = nil
        return (request.format?.serviceRoot ?? "") + url.urlEncoded()
    }
}

extension ODataURL {
    /// The option with a delta token in OData 2.0.
    static let deltaOption = "!deltatoken"

    /// The token of a delta link or next link.
    var feedToken: String? {
        options.deltaToken ?? options.skipToken ?? options.custom.first { $0.name == Self.deltaOption }?.value
    }
}
