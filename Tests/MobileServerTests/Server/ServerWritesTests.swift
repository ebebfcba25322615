import Foundation
import ServerState
import Testing

@testable import MobileServer

/// Writes that many devices cause, which must not wait for each other (`design-review.md` 19 and 31).
@Suite("Writes that many devices cause") struct ServerWritesTests {
    @Test("Review 19: devices are seen in groups, and no change number is spent on them")
    func seen() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server async throws in
            let devices = [LabDevice(), LabDevice(), LabDevice()]
            for device in devices { try await device.register(server) }
            let state = lab.state
            let before = try await state.head(of: "shop")
            let seen = SeenDevices(state: state)
            let moment = lab.services.clock() + .seconds(3600)
            for device in devices {
                let record = try #require(
                    try await state.registrations.registration(device.id, of: lab.application.id))
                await seen.note(record, at: moment)
                await seen.note(record, at: moment)
            }
            let waiting = try await state.registrations.registration(devices[0].id, of: lab.application.id)
            #expect(waiting?.seenAt != moment)
            await seen.stop()
            for device in devices {
                let record = try await state.registrations.registration(device.id, of: lab.application.id)
                #expect(record?.seenAt == moment)
            }
            #expect(try await state.head(of: "shop") == before)
        }
    }

    @Test("Review 31: readers of a feed write their visit once an hour")
    func asked() async throws {
        try await ShopBackEnd.run { site, _ async throws in
            let fields = ["Prefer": "odata.track-changes"]
            #expect(try await Wire.send("GET", site.url + "Products", fields).status == 200)
            let first = try #require(try await site.feed()?.askedAt)
            for _ in 0..<3 { #expect(try await Wire.send("GET", site.url + "Products", fields).status == 200) }
            #expect(try await site.feed()?.askedAt == first)
        }
    }
}
