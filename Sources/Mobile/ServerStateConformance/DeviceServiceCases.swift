import ServerState

extension ServerStateConformance {
    /// The promises of `DeviceServiceStores`, for drivers that conform to it.
    public static let deviceServices: [Case] =
        deviceUploads + sharedDocuments + deviceMessages + deviceBundles + deviceRecords

    // MARK: Uploads

    static let deviceUploads: [Case] = [
        Case("An upload arrives in parts, is resumed at its offset, and is complete once") { bench in
            let store = try bench.state.deviceServices().uploads
            _ = try await store.begin(bench.upload("U"))
            try await refused("a second one of the id", with: "already-exists") { () async throws(ServerStateError) in
                try await store.begin(bench.upload("U"))
            }
            try require(try await store.append([1, 2, 3], to: "U", at: 0), is: 3, "three bytes")
            try await refused("another offset", with: "changed") { () async throws(ServerStateError) in
                try await store.append([4], to: "U", at: 2)
            }
            try require(try await store.append([4, 5], to: "U", at: 3), is: 5, "two more")
            try await refused("another size", with: "changed") { () async throws(ServerStateError) in
                try await store.finish("U", size: 4, digest: [9], expiresAt: bench.clock.now)
            }
            let end = bench.clock.now + .seconds(100)
            let record = try await store.finish("U", size: 5, digest: [9], expiresAt: end)
            try require(record.state == .complete && record.digest == [9], "it is complete")
            try require(record.upload.expiresAt, is: end, "it has the age of complete uploads")
            _ = try await store.finish("U", size: 5, digest: [9], expiresAt: end)
            try await refused("an append to a complete one", with: "changed") { () async throws(ServerStateError) in
                try await store.append([6], to: "U", at: 5)
            }
            try await refused("an unknown one", with: "missing") { () async throws(ServerStateError) in
                try await store.append([6], to: "V", at: 0)
            }
            var (bytes, part): ([UInt8], [UInt8]) = ([], [])
            repeat {
                part = try await store.bytes(of: "U", from: Int64(bytes.count))
                bytes += part
            } while !part.isEmpty
            try require(bytes, is: [1, 2, 3, 4, 5], "the bytes come back")
            try require(try await store.bytes(of: "U", from: 4), is: [5], "from any offset")
        },
        Case("Uploads are listed by application, device and kind, newest first") { bench in
            let store = try bench.state.deviceServices().uploads
            for (index, kind) in DeviceUploadKind.allCases.enumerated() {
                bench.clock.advance(by: .seconds(1))
                _ = try await store.begin(bench.upload("\(index)", kind: kind, device: index < 2 ? "A" : "B"))
            }
            try require(try await store.uploads(DeviceUploadFilter(registration: "A")).map(\.id), is: ["1", "0"], "A")
            try require(try await store.uploads(DeviceUploadFilter(kind: .store)).map(\.id), is: ["4"], "the kind")
            try require(try await store.uploads(DeviceUploadFilter(application: 8)).count, is: 0, "the application")
            let newest = try unwrap(try await store.uploads(DeviceUploadFilter(limit: 1)).first, "one")
            let older = DeviceUploadFilter(before: newest.createdAt)
            try require(try await store.uploads(older).count, is: 4, "pages")
            try require(try await store.remove("1"), "it is removed")
            try require(try await store.remove("1") == false, "once")
            try require(try await store.upload("1") == nil, "it is gone")
        },
        Case("A device has a limit of unfinished uploads and of bytes, and old uploads go") { bench in
            let store = try bench.state.deviceServices().uploads
            for index in 0..<DeviceUploadLimits.unfinished { _ = try await store.begin(bench.upload("\(index)")) }
            try await refused("one more", with: "limit-exceeded") { () async throws(ServerStateError) in
                try await store.begin(bench.upload("more"))
            }
            _ = try await store.begin(bench.upload("other", device: "B"))
            try await refused("too many bytes", with: "limit-exceeded") { () async throws(ServerStateError) in
                try await store.begin(bench.upload("big", device: "B", size: DeviceUploadLimits.bytesOfDevice + 1))
            }
            try await refused("too many bytes at once", with: "limit-exceeded") { () async throws(ServerStateError) in
                try await store.append(
                    [UInt8](repeating: 0, count: DeviceUploadLimits.part + 1), to: "other", at: 0)
            }
            bench.clock.advance(by: .seconds(2000))
            while try await bench.state.expire(RetentionAges()) {}
            try require(try await store.uploads(DeviceUploadFilter()), is: [], "their time is over")
        },
    ]

    // MARK: Shared documents

    static let sharedDocuments: [Case] = [
        Case("A shared document has conditions, versions and an owner") { bench in
            let store = try bench.state.deviceServices().sharedDocuments
            let (application, user) = try await bench.device("R")
            let key = SharedDocumentKey(application: application.id, scope: .user, owner: "\(user.id)", name: "a")
            try await refused("a document that must exist", with: "changed") { () async throws(ServerStateError) in
                try await store.put([1], key, when: .exists)
            }
            let made = try await store.put([1], key, when: .isMissing)
            try require(made.isNew, "it is new")
            try await refused("a document that must be missing", with: "changed") { () async throws(ServerStateError) in
                try await store.put([2], key, when: .isMissing)
            }
            let changed = try await store.put([2, 2], key, when: .version(made.record.version))
            try require(!changed.isNew && changed.record.version != made.record.version, "it has a new version")
            try await refused("an old version", with: "changed") { () async throws(ServerStateError) in
                try await store.put([3], key, when: .version(made.record.version))
            }
            let read = try unwrap(try await store.document(key), "it is there")
            try require(read.body == [2, 2] && read.record == changed.record, "its content and version")
            let owned = try await store.documents(of: application.id, scope: .user, owner: "\(user.id)")
            try require(owned, is: [changed.record], "it is listed for its owner")
            try require(
                try await store.documents(of: application.id, scope: .device, owner: "R"), is: [], "and for no other")
            try await refused("an old version", with: "changed") { () async throws(ServerStateError) in
                try await store.remove(key, .version(made.record.version))
            }
            try await store.remove(key, .version(changed.record.version))
            try await refused("a document that is gone", with: "missing") { () async throws(ServerStateError) in
                try await store.remove(key, .none)
            }
            let again = try await store.put([2, 2], key, when: .none)
            try require(again.record.version != changed.record.version, "a version does not come back")
        },
        Case("Shared documents go with their owner, and have limits") { bench in
            let store = try bench.state.deviceServices().sharedDocuments
            let (application, user) = try await bench.device("R")
            func key(_ scope: SharedDocumentScope, _ owner: String, name: String = "a") -> SharedDocumentKey {
                SharedDocumentKey(application: application.id, scope: scope, owner: owner, name: name)
            }
            _ = try await store.put([1], key(.application, ""), when: .none)
            _ = try await store.put([1], key(.user, "\(user.id)"), when: .none)
            _ = try await store.put([1], key(.device, "R"), when: .none)
            try require(try await store.documents(of: application.id).count, is: 3, "three scopes")
            for (scope, owner) in [(SharedDocumentScope.device, "S"), (.user, "99"), (.application, "x")] {
                try await refused("an unknown owner", with: "missing") { () async throws(ServerStateError) in
                    try await store.put([1], key(scope, owner), when: .none)
                }
            }
            try await refused("a large document", with: "limit-exceeded") { () async throws(ServerStateError) in
                try await store.put(
                    [UInt8](repeating: 32, count: SharedDocumentLimits.size + 1), key(.device, "R"), when: .none)
            }
            try await refused("a long name", with: "limit-exceeded") { () async throws(ServerStateError) in
                try await store.put(
                    [1], key(.device, "R", name: String(repeating: "n", count: SharedDocumentLimits.name + 1)),
                    when: .none)
            }
            for index in 1..<SharedDocumentLimits.count {
                _ = try await store.put([1], key(.device, "R", name: "\(index)"), when: .none)
            }
            try await refused("too many documents", with: "limit-exceeded") { () async throws(ServerStateError) in
                try await store.put([1], key(.device, "R", name: "more"), when: .none)
            }
            try await bench.state.registrations.unregister("R", of: application.id, ifMatch: nil)
            try require(
                try await store.documents(of: application.id).map(\.key.scope), is: [.application, .user],
                "those of the device are gone")
            try await bench.state.registrations.removeUser(user.id)
            try require(
                try await store.documents(of: application.id).map(\.key.scope), is: [.application],
                "those of the user are gone")
        },
    ]

    // MARK: Messages

    static let deviceMessages: [Case] = [
        Case("Messages wait in order until they are confirmed, with numbers that hold the incarnation (point 8)") {
            bench in
            let store = try bench.state.deviceServices().messages
            let (application, _) = try await bench.device("R")
            var numbers: [Int64] = []
            for index in 0..<3 {
                let number = try await store.send(
                    NewDeviceMessage(kind: .custom, body: [UInt8(index)]), to: "R", of: application.id)
                numbers.append(try unwrap(number, "a number"))
            }
            try require(numbers == numbers.sorted() && Set(numbers).count == 3, "numbers grow")
            try require(numbers[0] >> 32, is: try await bench.state.incarnation().number, "the incarnation")
            let all = try await store.messages(of: "R", of: application.id, after: 0, limit: 10)
            try require(all.map(\.body), is: [[0], [1], [2]], "in order")
            try require(
                try await store.messages(of: "R", of: application.id, after: numbers[0], limit: 1).map(\.number),
                is: [numbers[1]], "after a number")
            try await store.confirm(through: numbers[1], registration: "R", of: application.id)
            try require(
                try await store.messages(of: "R", of: application.id, after: 0, limit: 10).map(\.number),
                is: [numbers[2]], "what was confirmed is gone")
            try require(
                try await store.head(of: "R", of: application.id),
                is: DeviceMessageHead(head: numbers[2], floor: 0, waiting: 1), "the head stays")
            _ = try await bench.state.beginIncarnation()
            let next = try await store.send(NewDeviceMessage(kind: .custom), to: "R", of: application.id)
            try require(try unwrap(next, "a number") > numbers[2], "a new incarnation goes on above")
        },
        Case("An equal message coalesces while the first one waits") { bench in
            let store = try bench.state.deviceServices().messages
            let (application, _) = try await bench.device("R")
            let message = NewDeviceMessage(kind: .sync, body: [1], coalesces: true)
            let first = try unwrap(try await store.send(message, to: "R", of: application.id), "a number")
            try require(try await store.send(message, to: "R", of: application.id) == nil, "it coalesces")
            let other = NewDeviceMessage(kind: .sync, body: [2], coalesces: true)
            try require(try await store.send(other, to: "R", of: application.id) != nil, "another body does not")
            try await store.confirm(through: first, registration: "R", of: application.id)
            try require(try await store.send(message, to: "R", of: application.id) != nil, "nor after it was read")
        },
        Case("The oldest messages go beyond the limit and after their time, and the floor tells it") { bench in
            let store = try bench.state.deviceServices().messages
            let (application, _) = try await bench.device("R")
            var numbers: [Int64] = []
            for _ in 0...DeviceMessageLimits.waiting {
                let number = try await store.send(
                    NewDeviceMessage(kind: .custom, lifetime: .seconds(60)), to: "R", of: application.id)
                numbers.append(try unwrap(number, "a number"))
            }
            let head = try await store.head(of: "R", of: application.id)
            try require(head.floor == numbers[0] && head.waiting == DeviceMessageLimits.waiting, "the oldest is gone")
            try await refused("a large message", with: "limit-exceeded") { () async throws(ServerStateError) in
                try await store.send(
                    NewDeviceMessage(kind: .custom, body: [UInt8](repeating: 0, count: DeviceMessageLimits.size + 1)),
                    to: "R", of: application.id)
            }
            bench.clock.advance(by: .seconds(61))
            try require(
                try await store.messages(of: "R", of: application.id, after: 0, limit: 10), is: [], "their time is over"
            )
            while try await bench.state.expire(RetentionAges()) {}
            try require(
                try await store.head(of: "R", of: application.id),
                is: DeviceMessageHead(head: numbers[1000], floor: numbers[1000], waiting: 0), "the floor rises")
        },
        Case("Notices name the registrations with new messages") { bench in
            let store = try bench.state.deviceServices().messages
            let (application, _) = try await bench.device("R")
            let before = try await bench.state.head(of: DeviceMessageScope.changes)
            let number = try await store.send(NewDeviceMessage(kind: .custom), to: "R", of: application.id)
            let notices = try await store.notices(after: before, limit: 10)
            try require(notices.map(\.registration), is: ["R"], "one registration")
            try require(notices.first?.change, is: number, "its number")
            try require(try await store.notices(after: notices[0].change, limit: 10), is: [], "and then none")
            try await refused("an unknown registration", with: "missing") { () async throws(ServerStateError) in
                try await store.send(NewDeviceMessage(kind: .custom), to: "S", of: application.id)
            }
            try await bench.state.registrations.unregister("R", of: application.id, ifMatch: nil)
            try require(
                try await store.messages(of: "R", of: application.id, after: 0, limit: 10), is: [],
                "messages go with the registration")
        },
        Case("A suspended subscription gets nothing until it is resumed") { bench in
            let store = try bench.state.deviceServices().messages
            let (application, _) = try await bench.device("R")
            var subscription = DeviceSubscriptionRecord(destination: "d", query: "Orders", parameters: [1, 2])
            let made = try await store.setSubscription(subscription, registration: "R", of: application.id)
            try require(made.version != 0, "it has a version")
            func subscribers() async throws(ServerStateError) -> [String] {
                try await store.subscribers(of: "Orders", destination: "d", of: application.id, after: "")
            }
            try require(try await subscribers(), is: ["R"], "it is subscribed")
            subscription.isSuspended = true
            _ = try await store.setSubscription(subscription, registration: "R", of: application.id)
            try require(try await subscribers(), is: [], "it is suspended")
            let all = try await store.subscriptions(of: "R", of: application.id)
            try require(all.count == 1 && all[0].isSuspended && all[0].parameters == [1, 2], "it is kept")
            subscription.isSuspended = false
            _ = try await store.setSubscription(subscription, registration: "R", of: application.id)
            try require(try await subscribers(), is: ["R"], "it is resumed")
        },
    ]
}

extension ServerStateConformance {
    static let deviceBundles: [Case] = [
        Case("A bundle is seen when it is whole, and has one stage and one default") { bench in
            let store = try bench.state.deviceServices().bundles
            let first = DeviceBundleKey(application: 7, name: "logo", version: "1")
            let second = DeviceBundleKey(application: 7, name: "logo", version: "2")
            for (key, file) in [(first, "f1"), (first, "f2"), (second, "f3")] {
                try await store.begin(key, fileExtension: "zip", file: file)
            }
            try require(try await store.append([1, 2], to: "f1", at: 0), is: 2, "two bytes")
            try await refused("another offset", with: "changed") { () async throws(ServerStateError) in
                try await store.append([3], to: "f1", at: 1)
            }
            try require(try await store.append([3], to: "f1", at: 2), is: 3, "one more")
            try require(try await store.bundle(first) == nil, "nobody sees it")
            try require(try await store.bytes(ofFile: "f1", from: 1), is: [2], "its bytes are read")
            let made = try await store.finish("f1", digest: [9], manifest: "{}")
            try require(
                made.stage == .staged && made.size == 3 && made.digest == [9] && made.manifest == "{}", "its values")
            try await refused("a second one of the key", with: "already-exists") { () async throws(ServerStateError) in
                try await store.finish("f2", digest: [8], manifest: nil)
            }
            try await store.abandon("f2")
            _ = try await store.finish("f3", digest: [7], manifest: nil)
            try require(try await store.bytes(of: first, from: 0), is: [1, 2], "parts as they came")
            try require(try await store.bytes(of: first, from: 2), is: [3], "from any offset")
            try require(try await store.setStage(.current, second).stage, is: .current, "the stage")
            for key in [first, second] { try await store.setDefault(key, of: 7) }
            try require(try await store.bundles(of: 7).map(\.isDefault), is: [false, true], "one default")
            try await store.setDefault(nil, of: 7)
            try require(try await store.bundles(of: 7).map(\.isDefault), is: [false, false], "none")
            try require(try await store.remove(first), "it is removed")
            try require(try await store.bytes(of: first, from: 0), is: [], "with its bytes")
            try await refused("a stage of one that is gone", with: "missing") { () async throws(ServerStateError) in
                try await store.setStage(.current, first)
            }
            try await store.begin(first, fileExtension: "zip", file: "f4")
            bench.clock.advance(by: .seconds(2 * 86_400))
            while try await bench.state.expire(RetentionAges()) {}
            try await refused("an unfinished one after a day", with: "missing") { () async throws(ServerStateError) in
                try await store.append([1], to: "f4", at: 0)
            }
        },
        Case("An application has a limit of bundles") { bench in
            let store = try bench.state.deviceServices().bundles
            for index in 0..<DeviceBundleLimits.count {
                try await store.begin(
                    DeviceBundleKey(application: 7, name: "b", version: "\(index)"), fileExtension: "zip",
                    file: "\(index)")
            }
            try await refused("one more", with: "limit-exceeded") { () async throws(ServerStateError) in
                try await store.begin(
                    DeviceBundleKey(application: 7, name: "b", version: "more"), fileExtension: "zip", file: "more")
            }
            try await store.begin(
                DeviceBundleKey(application: 8, name: "b", version: "1"), fileExtension: "zip", file: "other")
        },
    ]
}

extension ServerStateConformance.Bench {
    /// Returns an upload of a device.
    fileprivate func upload(
        _ id: String, kind: DeviceUploadKind = .log, device: String = "A", size: Int64? = nil
    ) -> NewDeviceUpload {
        NewDeviceUpload(
            id: id, application: 7, registration: device, user: 1, kind: kind, note: "note", announcedSize: size,
            expiresAt: clock.now + .seconds(1000))
    }

    /// Adds an application with a user and a registration.
    fileprivate func device(_ id: String) async throws -> (ApplicationRecord, UserRecord) {
        let application = try await application()
        let user = try await user(of: application)
        _ = try await state.registrations.register(
            NewRegistration(
                application: application.id, id: id, user: user.id, security: "basic", device: DeviceProperties(),
                settings: []))
        return (application, user)
    }
}
