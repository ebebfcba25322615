import OfflineOData
import Synchronization

/// A delegate that records the reports of a synchronization.
final class SyncListener: OfflineStoreDelegate {
    private let heard = Mutex<[SyncProgress]>([])
    private let ended = Mutex<[UploadReport]>([])

    var progress: [SyncProgress] { heard.withLock { $0 } }
    var earlyEnds: [UploadReport] { ended.withLock { $0 } }

    func offlineStore(_ store: OfflineStore, didUpdate progress: SyncProgress) {
        heard.withLock { $0.append(progress) }
    }

    func offlineStore(_ store: OfflineStore, uploadDidEndEarly report: UploadReport) {
        ended.withLock { $0.append(report) }
    }
}
