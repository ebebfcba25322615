import Foundation
import Testing

@testable import OfflineOData

@Suite("The subject of a queued request")
struct SubjectTests {
    private static let container = QueuedRequest.Container(row: 7, url: "Orders(1)/Items")
    private static let pair = QueuedRequest.RelatedPair(source: 1, target: 2)
    private static let relation = QueuedRequest.RelationChange(
        navigation: "Tags", sourceRow: 1, targetSet: "Tags", targetRow: 2, target: "Tags(2)", replaced: [pair],
        seen: [],
        shown: "Tags(3)")
    private static let call = QueuedRequest.ActionCall(
        url: "Orders(1)/N.Ship", parameters: "{}", bound: RowReference(set: "Orders", rowID: 1))
    private static let former = QueuedRequest.FormerRequest(
        entity: "Orders(1)", method: "PATCH", url: "Orders(1)", body: "{}")

    private static let subjects: [(QueuedRequest.Kind, QueuedRequest.Subject)] = [
        (.update, .entity(.init())), (.create, .entity(.init(stream: 3))),
        (.delete, .entity(.init(container: container))),
        (.create, .entity(.init(container: .init(row: 7, url: nil)))),
        (.stream, .stream(.init(stream: 3, property: nil))),
        (.stream, .stream(.init(property: "Photo", container: container))), (.link, .relation(relation)),
        (.unlink, .relation(relation)), (.call, .call(call)),
        (.call, .call(.init(url: "N.Reset", parameters: "{\"a\":1}"))),
        (.update, .unmapped(former, .entity(.init(container: container)))),
        (.link, .unmapped(former, .relation(relation))),
        (.call, .unmapped(former, .call(call))),
    ]

    private static func stored(_ text: String) throws -> StoredSubject {
        try JSONDecoder().decode(StoredSubject.self, from: Data(text.utf8))
    }

    @Test("is read as it was stored")
    func roundTrip() throws {
        for (kind, subject) in Self.subjects {
            let bytes = try JSONEncoder().encode(StoredSubject(subject))
            let stored = try JSONDecoder().decode(StoredSubject.self, from: bytes)
            #expect(try stored.subject(of: kind, 1) == subject)
            #expect(stored.isEmpty == (subject == .entity(.init())))
        }
    }

    @Test("is read from the form of earlier versions")
    func earlierVersions() throws {
        let relation = try Self.stored(
            """
            {"navigation":"Tags","sourceRow":1,"targetSet":"Tags","targetRow":2,"target":"Tags(2)","unknown":true}
            """
        ).subject(of: .link, 1)
        guard case .relation(let change) = relation else {
            Issue.record("\(relation)")
            return
        }
        #expect(change.navigation == "Tags" && change.target == "Tags(2)" && change.seen == nil)
        let call = try Self.stored(#"{"url":"N.Reset","bound":{"set":"Orders","row":4}}"#).subject(of: .call, 1)
        #expect(
            call
                == .call(.init(url: "N.Reset", parameters: "{}", bound: RowReference(set: "Orders", rowID: 4))))
    }

    @Test(
        "reports a damaged queue if a required part is missing",
        arguments: [
            (QueuedRequest.Kind.link, "{}"), (.unlink, #"{"navigation":"Tags","sourceRow":1}"#), (.call, "{}"),
            (.call, #"{"parameters":"{}"}"#),
        ])
    func damaged(kind: QueuedRequest.Kind, text: String) throws {
        #expect {
            try Self.stored(text).subject(of: kind, 12)
        } throws: { error in
            guard case OfflineError.damagedQueue(let reason) = error else { return false }
            return reason.contains("request 12")
        }
    }

    @Test("keeps the container of an entity, a stream and a request without a place")
    func containers() {
        for (_, subject) in Self.subjects {
            var changed = subject
            changed.container = Self.container
            switch subject.former {
            case .entity, .stream: #expect(changed.container == Self.container)
            case .relation, .call, .unmapped: #expect(changed == subject)
            }
        }
    }
}
