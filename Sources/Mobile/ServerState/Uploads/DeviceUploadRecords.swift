/// A kind of upload of a device.
public enum DeviceUploadKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// A part of the log of the app.
    case log
    /// A trace of requests.
    case trace
    /// A report of a crash.
    case crash
    /// Records of the usage of the app.
    case usage
    /// A copy of an offline store.
    case store
}

/// The state of an upload.
public enum DeviceUploadState: String, Hashable, Sendable, Codable {
    /// The device sends more bytes.
    case receiving
    /// The upload is whole.
    case complete
}

/// An upload that begins.
public struct NewDeviceUpload: Hashable, Sendable {
    /// The identifier, which the server makes at random.
    public var id: String
    /// The application.
    public var application: RecordNumber
    /// The registration of the device.
    public var registration: String
    /// The user of the registration.
    public var user: RecordNumber
    /// The kind.
    public var kind: DeviceUploadKind
    /// The media type that the device names. It is data of a stranger.
    public var contentType: String
    /// A note of the user. It is data of a stranger.
    public var note: String?
    /// The moment at which the user agreed to uploads of this kind; `nil` if the kind needs no consent.
    public var consentedAt: ServerInstant?
    /// The size in bytes that the device announces; `nil` if it does not know it.
    public var announcedSize: Int64?
    /// The SHA-256 that the device announces.
    public var announcedDigest: [UInt8]?
    /// The moment at which an unfinished upload goes.
    public var expiresAt: ServerInstant

    /// Creates an upload.
    public init(
        id: String, application: RecordNumber, registration: String, user: RecordNumber, kind: DeviceUploadKind,
        contentType: String = "application/octet-stream", note: String? = nil, consentedAt: ServerInstant? = nil,
        announcedSize: Int64? = nil, announcedDigest: [UInt8]? = nil, expiresAt: ServerInstant
    ) {
        self.id = id
        self.application = application
        self.registration = registration
        self.user = user
        self.kind = kind
        self.contentType = contentType
        self.note = note
        self.consentedAt = consentedAt
        self.announcedSize = announcedSize
        self.announcedDigest = announcedDigest
        self.expiresAt = expiresAt
    }
}

/// An upload as it is stored.
public struct DeviceUploadRecord: Hashable, Sendable {
    /// The upload as it began. ``NewDeviceUpload/expiresAt`` is that of its present state.
    public var upload: NewDeviceUpload
    /// The state.
    public var state: DeviceUploadState
    /// The number of bytes that are stored.
    public var receivedSize: Int64
    /// The SHA-256 of a complete upload.
    public var digest: [UInt8]?
    /// The moment at which the upload began.
    public var createdAt: ServerInstant

    /// The identifier.
    public var id: String { upload.id }

    /// Creates a record.
    public init(
        upload: NewDeviceUpload, state: DeviceUploadState, receivedSize: Int64, digest: [UInt8]?,
        createdAt: ServerInstant
    ) {
        self.upload = upload
        self.state = state
        self.receivedSize = receivedSize
        self.digest = digest
        self.createdAt = createdAt
    }
}

/// A selection of uploads. Newer ones come first.
public struct DeviceUploadFilter: Hashable, Sendable {
    /// The only application.
    public var application: RecordNumber?
    /// The only registration.
    public var registration: String?
    /// The only kind.
    public var kind: DeviceUploadKind?
    /// Uploads that began before a moment.
    public var before: ServerInstant?
    /// The maximum number; at most 1,000.
    public var limit: Int

    /// Creates a selection.
    public init(
        application: RecordNumber? = nil, registration: String? = nil, kind: DeviceUploadKind? = nil,
        before: ServerInstant? = nil, limit: Int = 1000
    ) {
        self.application = application
        self.registration = registration
        self.kind = kind
        self.before = before
        self.limit = limit
    }
}

/// The limits of uploads.
public enum DeviceUploadLimits {
    /// The maximum number of unfinished uploads of a device.
    public static let unfinished = 20
    /// The maximum number of bytes that the server keeps for a device.
    public static let bytesOfDevice: Int64 = 256 << 20
    /// The maximum number of bytes in one call of ``DeviceUploadStore/append(_:to:at:)``.
    public static let part = 1 << 20
    /// The maximum number of bytes of a note.
    public static let note = 4096
}
